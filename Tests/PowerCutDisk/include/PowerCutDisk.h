// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

#ifndef POWER_CUT_DISK_H
#define POWER_CUT_DISK_H

#include <stdbool.h>
#include <stdint.h>

/// A disk in memory for the database files of one folder, whose power can be cut.
///
/// SQLite sees it as part of its default VFS; files elsewhere are on the real disk. What has been
/// written since a file's last sync is remembered; at a power cut a random part of it stays, torn at
/// 512 bytes. Used by one thread at a time; several disks side by side are independent.
typedef struct power_disk power_disk;

/// Makes a disk for files directly in `folder` (an absolute path without a slash at its end; it must
/// exist, for locks lie there in fact); NULL when 64 disks are in use.
power_disk *power_disk_make(const char *folder);

/// Forgets the disk; every database on it must be closed.
void power_disk_free(power_disk *disk);

/// Lets the power fail at the `count`-th write, truncation, sync or deletion from now, before its
/// effect if it is a sync; from then on every operation of files open now fails. 0: never.
void power_disk_fail_after(power_disk *disk, long count);

/// The same at the `count`-th sync from now, when everything has been written and nothing is safe.
void power_disk_fail_at_sync(power_disk *disk, long count);

/// Whether the power is out.
bool power_disk_is_out(const power_disk *disk);

/// Whether syncs do what they say; a disk that lies shows that the tests would notice.
void power_disk_set_honest(power_disk *disk, bool is_honest);

/// Cuts the power, if it is not out yet, and switches it on again; `seed` chooses what is left.
void power_disk_restore(power_disk *disk, uint64_t seed);

/// Sectors of 512 bytes that power cuts have taken away so far.
long power_disk_lost_sectors(const power_disk *disk);

#endif
