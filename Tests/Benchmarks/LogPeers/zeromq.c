// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

// As Cairn's messages: a header of 96 bytes, empty metadata, a payload.
enum { header_bytes = 96 };

static void *context;
static char addresses[4][200];

static void name_addresses(const char *directory) {
    const char *names[] = {"requests", "lane", "sink", "stream"};
    for (int index = 0; index < 4; index++)
        snprintf(addresses[index], sizeof addresses[index], "ipc://%s/c-%s", directory, names[index]);
}

static void *open_socket(int type, const char *address, int is_bound, int high_water) {
    void *socket = zmq_socket(context, type);
    int linger = 1000;
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(socket, ZMQ_SNDHWM, &high_water, sizeof high_water);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &high_water, sizeof high_water);
    if ((is_bound ? zmq_bind : zmq_connect)(socket, address)) die(address);
    return socket;
}

static void send_frames(void *socket, const void *header, const void *payload, size_t size) {
    if (zmq_send(socket, header, header_bytes, ZMQ_SNDMORE) < 0) die("send");
    if (zmq_send(socket, "", 0, ZMQ_SNDMORE) < 0) die("send");
    if (zmq_send(socket, payload, size, 0) < 0) die("send");
}

// Copies the last two header-sized frames out; `identity` gets the frame before them, if wanted.
static size_t receive_frames(void *socket, void *identity, void *header, void *payload, size_t room) {
    size_t identity_size = 0;
    if (identity) {
        int size = zmq_recv(socket, identity, 64, 0);
        if (size < 0) die("receive");
        identity_size = (size_t)size;
    }
    if (zmq_recv(socket, header, header_bytes, 0) != header_bytes) die("receive");
    if (zmq_recv(socket, payload, 0, 0) < 0) die("receive");
    if (zmq_recv(socket, payload, room, 0) < 0) die("receive");
    return identity_size;
}

static pid_t start(void (*body)(int, size_t), int count, size_t size) {
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child > 0) return child;
    context = zmq_ctx_new();
    body(count, size);
    zmq_ctx_term(context);
    _exit(0);
}

static void finish(pid_t child) {
    int status;
    waitpid(child, &status, 0);
}

static void push_all(int count, size_t size) {
    void *socket = open_socket(ZMQ_PUSH, addresses[3], 0, 1000);
    char *payload = calloc(1, size + 1), header[header_bytes] = {0};
    for (int index = 0; index < count; index++) {
        memcpy(header, &index, sizeof index);
        send_frames(socket, header, payload, size);
    }
    zmq_close(socket);
    free(payload);
}

int stream_through(const char *directory, int count, int payload_bytes) {
    name_addresses(directory);
    size_t size = (size_t)payload_bytes;
    pid_t child = start(push_all, count, size);
    context = zmq_ctx_new();
    void *socket = open_socket(ZMQ_PULL, addresses[3], 1, 1000);
    char *payload = malloc(size + 1), header[header_bytes];
    int64_t begun = 0;
    for (int index = 0; index < count; index++) {
        receive_frames(socket, NULL, header, payload, size);
        if (index == 0) begun = now_ns();
    }
    printf("{\"perSecond\":%.0f}\n", (double)(count - 1) / ((double)(now_ns() - begun) / 1e9));
    finish(child);
    zmq_close(socket);
    zmq_ctx_term(context);
    free(payload);
    return 0;
}

static void answer_all(int count, size_t size) {
    void *socket = open_socket(ZMQ_ROUTER, addresses[0], 1, 10000);
    char *payload = malloc(size + 1), header[header_bytes], identity[64];
    for (int index = 0; index < count; index++) {
        size_t length = receive_frames(socket, identity, header, payload, size);
        if (zmq_send(socket, identity, length, ZMQ_SNDMORE) < 0) die("send");
        send_frames(socket, header, payload, size);
    }
    zmq_close(socket);
    free(payload);
}

static void report_times(int64_t *times, int count, int64_t nanoseconds) {
    printf("{\"perSecond\":%.0f,\"p50\":%.1f,\"p99\":%.1f}\n",
           (double)count / ((double)nanoseconds / 1e9),
           (double)quantile(times, (size_t)count, 0.5) / 1e3,
           (double)quantile(times, (size_t)count, 0.99) / 1e3);
}

// `window` questions under way at once.
static void ask(int count, int window, size_t size) {
    void *socket = open_socket(ZMQ_DEALER, addresses[0], 0, 10000);
    int64_t *times = malloc((size_t)count * sizeof *times);
    char *payload = calloc(1, size + 1), header[header_bytes] = {0};
    int sent = 0;
    int64_t begun = now_ns();
    for (int received = 0; received < count; received++) {
        for (; sent < count && sent < received + window; sent++) {
            int64_t now = now_ns();
            memcpy(header, &now, sizeof now);
            send_frames(socket, header, payload, size);
        }
        receive_frames(socket, NULL, header, payload, size);
        int64_t then;
        memcpy(&then, header, sizeof then);
        times[received] = now_ns() - then;
    }
    report_times(times, count, now_ns() - begun);
    zmq_close(socket);
    free(payload);
    free(times);
}

int round_trips(const char *directory, int count, int payload_bytes) {
    name_addresses(directory);
    pid_t child = start(answer_all, count, (size_t)payload_bytes);
    context = zmq_ctx_new();
    ask(count, 1, (size_t)payload_bytes);
    finish(child);
    zmq_ctx_term(context);
    return 0;
}

static void work_all(int count, size_t size) {
    void *lane = open_socket(ZMQ_PULL, addresses[1], 0, 1000);
    void *sink = open_socket(ZMQ_PUSH, addresses[2], 0, 1000);
    char *payload = malloc(size + 1), header[header_bytes];
    for (int index = 0; index < count; index++) {
        receive_frames(lane, NULL, header, payload, size);
        send_frames(sink, header, payload, size);
    }
    zmq_close(lane);
    zmq_close(sink);
    free(payload);
}

// The hub of the same topology: ROUTER to PUSH, PULL to ROUTER, one asker. The asker's identity is kept
// here, as the hub keeps who waits for what.
static void dispatch_all(int count, size_t size) {
    void *requests = open_socket(ZMQ_ROUTER, addresses[0], 1, 10000);
    void *lane = open_socket(ZMQ_PUSH, addresses[1], 1, 1000);
    void *sink = open_socket(ZMQ_PULL, addresses[2], 1, 1000);
    char *payload = malloc(size + 1), header[header_bytes], identity[64];
    size_t length = 0;
    zmq_pollitem_t items[] = {{requests, 0, ZMQ_POLLIN, 0}, {sink, 0, ZMQ_POLLIN, 0}};
    for (int done = 0; done < count;) {
        if (zmq_poll(items, 2, -1) < 0) die("poll");
        if (items[0].revents & ZMQ_POLLIN) {
            length = receive_frames(requests, identity, header, payload, size);
            send_frames(lane, header, payload, size);
        }
        if (items[1].revents & ZMQ_POLLIN) {
            receive_frames(sink, NULL, header, payload, size);
            if (zmq_send(requests, identity, length, ZMQ_SNDMORE) < 0) die("send");
            send_frames(requests, header, payload, size);
            done++;
        }
    }
    zmq_close(requests);
    zmq_close(lane);
    zmq_close(sink);
    free(payload);
}

int hub(const char *directory, int count, int window, int payload_bytes) {
    name_addresses(directory);
    pid_t worker = start(work_all, count, (size_t)payload_bytes);
    pid_t dispatcher = start(dispatch_all, count, (size_t)payload_bytes);
    context = zmq_ctx_new();
    ask(count, window, (size_t)payload_bytes);
    finish(worker);
    finish(dispatcher);
    zmq_ctx_term(context);
    return 0;
}

static const log_kind *kind;
static const char *log_path;
static int events_per_second;

// A few thousand events at most lie unanswered where the disk holds up the log for a moment.
enum { pipeline_high_water = 100000 };

// One event a message, made when its time has come, whatever is still under way.
static void produce_paced(int count, size_t size) {
    void *socket = open_socket(ZMQ_DEALER, addresses[0], 0, pipeline_high_water);
    char *payload = calloc(1, size + 1), header[header_bytes] = {0}, answer[header_bytes];
    int answered = 0;
    // The subscriber and the log are there once this has been answered; it is not counted.
    send_frames(socket, header, payload, size);
    receive_frames(socket, NULL, answer, payload, size);
    int64_t start_time = now_ns();
    for (int sent = 0; sent < count || answered < count;) {
        int64_t due = start_time + (int64_t)sent * 1000000000 / events_per_second, now = now_ns();
        if (sent < count && now >= due) {
            memcpy(header, &now, sizeof now);
            send_frames(socket, header, payload, size);
            sent++;
            continue;
        }
        while (zmq_recv(socket, answer, sizeof answer, ZMQ_DONTWAIT) == header_bytes) {
            if (zmq_recv(socket, payload, 0, 0) < 0 || zmq_recv(socket, payload, size, 0) < 0) die("receive");
            answered++;
        }
        if (sent < count) usleep((useconds_t)((due - now) / 1000));
        else usleep(1000);
    }
    zmq_close(socket);
    free(payload);
}

// Group commit: what has come is one transaction, then published, then answered.
static void commit_all(int count, size_t size) {
    enum { batch_limit = 256 };
    void *requests = open_socket(ZMQ_ROUTER, addresses[0], 1, pipeline_high_water);
    void *tail = open_socket(ZMQ_XPUB, addresses[3], 1, pipeline_high_water);
    char *payload = malloc(size + 1), identity[64], headers[batch_limit][header_bytes];
    void *log = kind->open(log_path);
    zmq_pollitem_t item = {requests, 0, ZMQ_POLLIN, 0};
    char subscription;
    if (zmq_recv(tail, &subscription, 1, 0) < 0) die("subscription");
    // One more, which begins it all.
    for (int done = 0; done <= count;) {
        if (zmq_poll(&item, 1, -1) < 0) die("poll");
        size_t length = 0;
        int batch = 0;
        kind->begin(log);
        while (batch < batch_limit && zmq_poll(&item, 1, 0) > 0) {
            length = receive_frames(requests, identity, headers[batch++], payload, size);
            kind->add(log, payload, (int)size);
        }
        kind->commit(log);
        for (int index = 0; index < batch; index++) send_frames(tail, headers[index], payload, size);
        for (int index = 0; index < batch; index++) {
            if (zmq_send(requests, identity, length, ZMQ_SNDMORE) < 0) die("send");
            send_frames(requests, headers[index], payload, size);
        }
        done += batch;
    }
    kind->close(log);
    zmq_close(requests);
    zmq_close(tail);
    free(payload);
}

int pipeline(const char *directory, const log_kind *wanted, int count, int per_second, int payload_bytes) {
    name_addresses(directory);
    char path[300];
    snprintf(path, sizeof path, "%s/c-log", directory);
    kind = wanted;
    log_path = path;
    events_per_second = per_second;
    size_t size = (size_t)payload_bytes;
    pid_t log = start(commit_all, count, size);
    context = zmq_ctx_new();
    void *tail = open_socket(ZMQ_SUB, addresses[3], 0, pipeline_high_water);
    zmq_setsockopt(tail, ZMQ_SUBSCRIBE, "", 0);
    pid_t producer = start(produce_paced, count, size);
    char *payload = malloc(size + 1), header[header_bytes];
    int64_t *times = malloc((size_t)count * sizeof *times), begun = 0;
    receive_frames(tail, NULL, header, payload, size);
    for (int index = 0; index < count; index++) {
        receive_frames(tail, NULL, header, payload, size);
        int64_t then, now = now_ns();
        memcpy(&then, header, sizeof then);
        if (index == 0) begun = now;
        times[index] = now - then;
    }
    report_times(times, count, now_ns() - begun);
    finish(producer);
    finish(log);
    zmq_close(tail);
    zmq_ctx_term(context);
    free(payload);
    free(times);
    return 0;
}
