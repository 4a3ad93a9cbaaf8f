package io.plumbline.topology.panes;

/** Says where the written panes of a task are kept between commits; the change-log topic holds them in either case. */
public enum StoreKind {
    /** Keeps panes in the heap: no files, restored from the change-log at every start. */
    MEMORY,
    /** Keeps panes in RocksDB under the state directory: a restart on the same disk restores only what is missing. */
    ROCKSDB
}
