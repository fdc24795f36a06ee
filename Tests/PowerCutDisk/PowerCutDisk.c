// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

#include "PowerCutDisk.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { sector = 512, disk_bound = 64, file_bound = 16, region_bound = 64 };

// A write or, without bytes, a truncation that no sync has followed yet.
typedef struct change {
    struct change *next;
    sqlite3_int64 offset;
    int count;
    unsigned char bytes[];
} change;

typedef struct image {
    unsigned char *bytes;
    sqlite3_int64 size, room;
} image;

typedef struct power_file {
    char *path;
    image now, synced;
    change *first, *last;
    // Whether the folder's entry would survive; a deletion that would not is `is_gone` alone.
    bool is_entered, is_gone;
    void *regions[region_bound];
} power_file;

struct power_disk {
    char *folder;
    power_file files[file_bound];
    int file_count;
    long life, countdown, sync_countdown, lost_sectors;
    bool is_out, lies;
};

typedef struct handle {
    sqlite3_file base;
    power_disk *disk;
    power_file *file;
    long life;
    bool enters_folder;
} handle;

static pthread_mutex_t disks_lock = PTHREAD_MUTEX_INITIALIZER;
static power_disk *disks[disk_bound];
static sqlite3_vfs *real, routed;

// MARK: Bytes

static int put(image *image, const unsigned char *bytes, int count, sqlite3_int64 offset) {
    if (offset + count > image->room) {
        sqlite3_int64 room = (offset + count) * 2;
        unsigned char *larger = realloc(image->bytes, room);
        if (!larger) return SQLITE_NOMEM;
        memset(larger + image->room, 0, room - image->room);
        image->bytes = larger;
        image->room = room;
    }
    memcpy(image->bytes + offset, bytes, count);
    if (offset + count > image->size) image->size = offset + count;
    return SQLITE_OK;
}

static void cut(image *image, sqlite3_int64 size) {
    if (size >= image->size) return;
    memset(image->bytes + size, 0, image->size - size);
    image->size = size;
}

static int copy(image *to, const image *from) {
    cut(to, 0);
    return from->size ? put(to, from->bytes, (int)from->size, 0) : SQLITE_OK;
}

static void forget_changes(power_file *file) {
    for (change *next, *each = file->first; each; each = next) {
        next = each->next;
        free(each);
    }
    file->first = file->last = NULL;
}

static void forget_regions(power_file *file) {
    for (int i = 0; i < region_bound; i++) {
        free(file->regions[i]);
        file->regions[i] = NULL;
    }
}

static int remember(power_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    change *made = malloc(sizeof(change) + count);
    if (!made) return SQLITE_NOMEM;
    *made = (change){.offset = offset, .count = count};
    if (count) memcpy(made->bytes, bytes, count);
    if (file->last) file->last->next = made; else file->first = made;
    file->last = made;
    return SQLITE_OK;
}

// MARK: Power

static bool is_dead(const handle *open) {
    return open->disk->is_out || open->life != open->disk->life;
}

/// Counts an operation; true when the power fails at it.
static bool fails(power_disk *disk) {
    if (disk->countdown > 0 && --disk->countdown == 0) disk->is_out = true;
    return disk->is_out;
}

static uint64_t draw(uint64_t *state) {
    uint64_t mixed = *state += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
}

/// Of the changes since the last sync, in order, some sectors stay; of a file that grew, what lies
/// between is zero or rubbish.
static void settle(power_disk *disk, power_file *file, uint64_t *random) {
    static const unsigned chances[] = {0, 10, 50, 90, 100};
    unsigned chance = chances[draw(random) % 5];
    bool has_rubbish = draw(random) % 2;
    for (change *each = file->first; each; each = each->next) {
        if (!each->count) {
            if (draw(random) % 100 < chance) cut(&file->synced, each->offset);
            continue;
        }
        for (int from = 0; from < each->count;) {
            int to = from + sector - (int)((each->offset + from) % sector);
            if (to > each->count) to = each->count;
            if (draw(random) % 100 < chance) {
                put(&file->synced, each->bytes + from, to - from, each->offset + from);
            } else {
                disk->lost_sectors++;
                if (has_rubbish && each->offset + from >= file->synced.size) {
                    unsigned char rubbish[sector];
                    for (int i = 0; i < sector; i++) rubbish[i] = (unsigned char)draw(random);
                    put(&file->synced, rubbish, to - from, each->offset + from);
                }
            }
            from = to;
        }
    }
    forget_changes(file);
    copy(&file->now, &file->synced);
}

void power_disk_restore(power_disk *disk, uint64_t seed) {
    for (int i = 0; i < disk->file_count; i++) {
        power_file *file = &disk->files[i];
        forget_regions(file);
        // An entry, or its removal, that the folder's sync did not cover may be there or not.
        if (!file->is_entered && draw(&seed) % 2) file->is_gone = true;
        if (file->is_entered && file->is_gone && draw(&seed) % 2) file->is_gone = false;
        file->is_entered = !file->is_gone;
        settle(disk, file, &seed);
        if (file->is_gone) {
            cut(&file->now, 0);
            cut(&file->synced, 0);
        }
    }
    disk->life++;
    disk->is_out = false;
    disk->countdown = disk->sync_countdown = 0;
}

// MARK: Files

static int file_close(sqlite3_file *base) {
    (void)base;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    handle *open = (handle *)base;
    if (is_dead(open)) return SQLITE_IOERR_READ;
    image *now = &open->file->now;
    sqlite3_int64 there = now->size > offset ? now->size - offset : 0;
    if (there >= count) {
        memcpy(bytes, now->bytes + offset, count);
        return SQLITE_OK;
    }
    if (there > 0) memcpy(bytes, now->bytes + offset, there);
    memset((char *)bytes + there, 0, count - there);
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    handle *open = (handle *)base;
    if (is_dead(open)) return SQLITE_IOERR_WRITE;
    // The write under way when the power fails may reach the disk, in part.
    int code = remember(open->file, bytes, count, offset);
    if (fails(open->disk)) return SQLITE_IOERR_WRITE;
    return code ? code : put(&open->file->now, bytes, count, offset);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    handle *open = (handle *)base;
    if (is_dead(open)) return SQLITE_IOERR_TRUNCATE;
    int code = remember(open->file, NULL, 0, size);
    if (fails(open->disk)) return SQLITE_IOERR_TRUNCATE;
    cut(&open->file->now, size);
    return code;
}

static void enter_folder(power_disk *disk) {
    for (int i = 0; i < disk->file_count; i++) {
        disk->files[i].is_entered = !disk->files[i].is_gone;
    }
}

static int file_sync(sqlite3_file *base, int flags) {
    (void)flags;
    handle *open = (handle *)base;
    power_disk *disk = open->disk;
    if (!is_dead(open) && disk->sync_countdown > 0 && --disk->sync_countdown == 0) {
        disk->is_out = true;
    }
    if (is_dead(open) || fails(disk)) return SQLITE_IOERR_FSYNC;
    if (disk->lies) return SQLITE_OK;
    forget_changes(open->file);
    if (open->enters_folder) enter_folder(disk);
    return copy(&open->file->synced, &open->file->now);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    handle *open = (handle *)base;
    if (is_dead(open)) return SQLITE_IOERR_FSTAT;
    *size = open->file->now.size;
    return SQLITE_OK;
}

// One connection uses a disk at a time, so every lock is free.
static int file_lock(sqlite3_file *base, int level) {
    (void)level;
    return is_dead((handle *)base) ? SQLITE_IOERR_LOCK : SQLITE_OK;
}

static int file_unlock(sqlite3_file *base, int level) {
    (void)base, (void)level;
    return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *base, int *is_reserved) {
    (void)base;
    *is_reserved = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
    (void)base, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *base) {
    (void)base;
    return 4096;  // As unix says of every disk.
}

static int file_character(sqlite3_file *base) {
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;  // As unix says of every disk.
}

static int file_map(sqlite3_file *base, int number, int size, int extends, void volatile **found) {
    handle *open = (handle *)base;
    *found = NULL;
    if (is_dead(open) || number >= region_bound) return SQLITE_IOERR_SHMMAP;
    void **region = &open->file->regions[number];
    if (!*region && extends) *region = calloc(1, size);
    *found = *region;
    return !*region && extends ? SQLITE_NOMEM : SQLITE_OK;
}

static int file_map_lock(sqlite3_file *base, int offset, int count, int flags) {
    (void)offset, (void)count, (void)flags;
    return is_dead((handle *)base) ? SQLITE_IOERR_SHMLOCK : SQLITE_OK;
}

static void file_barrier(sqlite3_file *base) {
    (void)base;
    __sync_synchronize();
}

static int file_unmap(sqlite3_file *base, int deletes) {
    handle *open = (handle *)base;
    if (deletes && !is_dead(open)) forget_regions(open->file);
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_character,
    .xShmMap = file_map,
    .xShmLock = file_map_lock,
    .xShmBarrier = file_barrier,
    .xShmUnmap = file_unmap,
};

// MARK: The folder

static power_disk *disk_of(const char *path) {
    const char *end = path ? strrchr(path, '/') : NULL;
    if (!end) return NULL;
    size_t count = end - path;
    power_disk *found = NULL;
    pthread_mutex_lock(&disks_lock);
    for (int i = 0; i < disk_bound && !found; i++) {
        power_disk *disk = disks[i];
        if (disk && strlen(disk->folder) == count && !strncmp(disk->folder, path, count)) {
            found = disk;
        }
    }
    pthread_mutex_unlock(&disks_lock);
    return found;
}

static power_file *file_of(power_disk *disk, const char *path) {
    for (int i = 0; i < disk->file_count; i++) {
        if (!strcmp(disk->files[i].path, path)) return &disk->files[i];
    }
    return NULL;
}

static int route_open(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *opened_with
) {
    (void)vfs;
    power_disk *disk = disk_of(path);
    if (!disk) return real->xOpen(real, path, base, flags, opened_with);
    base->pMethods = NULL;
    if (disk->is_out) return SQLITE_CANTOPEN;
    power_file *file = file_of(disk, path);
    if (!file || file->is_gone) {
        if (!(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
        if (!file) {
            if (disk->file_count == file_bound) return SQLITE_CANTOPEN;
            file = &disk->files[disk->file_count++];
            file->path = strdup(path);
        }
        file->is_gone = false;
    }
    *(handle *)base = (handle){
        .base = {.pMethods = &methods}, .disk = disk, .file = file, .life = disk->life,
        // SQLite on unix syncs the folder with the first sync of a journal.
        .enters_folder = flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)};
    if (opened_with) *opened_with = flags;
    return SQLITE_OK;
}

static int route_delete(sqlite3_vfs *vfs, const char *path, int syncs_folder) {
    (void)vfs;
    power_disk *disk = disk_of(path);
    if (!disk) return real->xDelete(real, path, syncs_folder);
    if (disk->is_out || fails(disk)) return SQLITE_IOERR_DELETE;
    power_file *file = file_of(disk, path);
    if (!file || file->is_gone) return SQLITE_IOERR_DELETE_NOENT;
    file->is_gone = true;
    int code = remember(file, NULL, 0, 0);
    cut(&file->now, 0);
    forget_regions(file);
    if (syncs_folder && !disk->lies) {
        enter_folder(disk);
        forget_changes(file);
        cut(&file->synced, 0);
    }
    return code;
}

static int route_access(sqlite3_vfs *vfs, const char *path, int flags, int *answer) {
    (void)vfs;
    power_disk *disk = disk_of(path);
    if (!disk) return real->xAccess(real, path, flags, answer);
    power_file *file = file_of(disk, path);
    *answer = file && !file->is_gone && (flags != SQLITE_ACCESS_EXISTS || file->now.size > 0);
    return SQLITE_OK;
}

static void install(void) {
    sqlite3_initialize();
    real = sqlite3_vfs_find(NULL);
    // Everything not about a file of a disk is done by the system's own functions.
    routed = *real;
    routed.pNext = NULL;
    routed.zName = "power-cut";
    if (routed.szOsFile < (int)sizeof(handle)) routed.szOsFile = sizeof(handle);
    routed.xOpen = route_open;
    routed.xDelete = route_delete;
    routed.xAccess = route_access;
    sqlite3_vfs_register(&routed, 1);
}

power_disk *power_disk_make(const char *folder) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    power_disk *made = calloc(1, sizeof(power_disk));
    made->folder = strdup(folder);
    pthread_mutex_lock(&disks_lock);
    int place = 0;
    while (place < disk_bound && disks[place]) place++;
    if (place < disk_bound) disks[place] = made;
    pthread_mutex_unlock(&disks_lock);
    if (place < disk_bound) return made;
    free(made->folder);
    free(made);
    return NULL;
}

void power_disk_free(power_disk *disk) {
    pthread_mutex_lock(&disks_lock);
    for (int i = 0; i < disk_bound; i++) {
        if (disks[i] == disk) disks[i] = NULL;
    }
    pthread_mutex_unlock(&disks_lock);
    for (int i = 0; i < disk->file_count; i++) {
        power_file *file = &disk->files[i];
        forget_changes(file);
        forget_regions(file);
        free(file->now.bytes);
        free(file->synced.bytes);
        free(file->path);
    }
    free(disk->folder);
    free(disk);
}

void power_disk_fail_after(power_disk *disk, long count) { disk->countdown = count; }
void power_disk_fail_at_sync(power_disk *disk, long count) { disk->sync_countdown = count; }
bool power_disk_is_out(const power_disk *disk) { return disk->is_out; }
void power_disk_set_honest(power_disk *disk, bool is_honest) { disk->lies = !is_honest; }
long power_disk_lost_sectors(const power_disk *disk) { return disk->lost_sectors; }
