package io.plumbline.topology.cli;

import io.plumbline.topology.broker.BrokerRefusal;
import io.plumbline.topology.broker.StartException;
import io.plumbline.topology.config.ConfigException;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.TensorFileException;
import java.io.FileNotFoundException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** Turns an exception into a sentence on standard error and an exit code. */
public final class Failures {

    public static final String PREFIX = "plumbline: ";

    private Failures() {}

    public static int explain(Exception failure, PrintWriter err, boolean withStack) {
        err.println(PREFIX + sentence(failure));
        if (withStack) { // --verbose asked for it
            failure.printStackTrace(err);
        } else if (exitCode(failure) == ExitCodes.FAILURE) {
            err.println("(--verbose shows where)");
        }
        err.flush();
        return exitCode(failure);
    }

    /** Returns what to say of a heap that is full; twice as much is a guess. */
    public static String noMemory(OutOfMemoryError full) {
        long heap = Runtime.getRuntime().maxMemory() >> 20;
        return ("no memory left (%s), and Java may use %d MiB; give it more: PLUMBLINE_JAVA_OPTS=-Xmx%dm, "
                        + "where the machine has as much")
                .formatted(full.getMessage(), heap, 2 * heap);
    }

    private static int exitCode(Throwable failure) {
        boolean fixableByTyping = failure instanceof UsageException
                || failure instanceof ConfigException
                || (failure instanceof StartException start && !start.mayPass())
                || failure instanceof NoSuchFileException
                || failure instanceof FileAlreadyExistsException
                || failure instanceof NotDirectoryException
                || failure instanceof FileNotFoundException
                || isOtherFile(failure);
        return fixableByTyping ? ExitCodes.USAGE : ExitCodes.FAILURE;
    }

    /** Returns whether a file was given that is of another kind than the one that belongs there. */
    private static boolean isOtherFile(Throwable failure) {
        return BrokerRefusal.causes(failure)
                .anyMatch(cause -> (cause instanceof SafetensorsException tensors
                                && tensors.fault() == SafetensorsException.Fault.OTHER_FILE)
                        || (cause instanceof TensorFileException archive
                                && archive.fault() == TensorFileException.Fault.OTHER_FILE));
    }

    private static String sentence(Throwable failure) {
        if (failure instanceof NoSuchFileException missing) {
            return "no such file or folder: " + missing.getFile();
        }
        if (failure instanceof AccessDeniedException denied) {
            return "not allowed to read or write " + denied.getFile();
        }
        if (failure instanceof FileSystemException broken) {
            return "%s: %s".formatted(broken.getFile(), reason(broken));
        }
        String message = failure.getMessage();
        // An exception without a message was not meant for people; its type is all there is to say.
        return message == null || message.isBlank() ? failure.getClass().getSimpleName() : message;
    }

    /** Returns the reason of an exception whose class may be all that tells it. */
    private static String reason(FileSystemException broken) {
        if (broken instanceof FileAlreadyExistsException) {
            return "exists already; name another";
        }
        if (broken instanceof NotDirectoryException) {
            return "is no folder";
        }
        String reason = broken.getReason();
        return reason == null ? broken.getClass().getSimpleName() : reason;
    }
}
