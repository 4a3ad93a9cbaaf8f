package io.plumbline.topology.faults;

import io.plumbline.topology.panes.RowAccount;
import java.nio.ByteBuffer;

/**
 * Prints what a window's account says of its site's rows: read from committed windows, it is exact however often rows
 * were read.
 */
record AccountPrint(long in, long inWindows, long open, long late, long unaccounted) {

    static byte[] append(byte[] print, RowAccount account) {
        return ByteBuffer.allocate(print.length + 5 * Long.BYTES)
                .put(print)
                .putLong(account.in())
                .putLong(account.inWindows())
                .putLong(account.open())
                .putLong(account.lateRows())
                .putLong(account.unaccounted())
                .array();
    }

    static AccountPrint decode(byte[] bytes) {
        ByteBuffer tail = ByteBuffer.wrap(bytes).position(bytes.length - 5 * Long.BYTES);
        return new AccountPrint(tail.getLong(), tail.getLong(), tail.getLong(), tail.getLong(), tail.getLong());
    }
}
