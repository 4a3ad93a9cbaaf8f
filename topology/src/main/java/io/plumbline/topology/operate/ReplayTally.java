package io.plumbline.topology.operate;

import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.KeptLetter;
import io.plumbline.wire.Printable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Counts what became of dead letters, by reason, and says so. */
final class ReplayTally {

    private static final int LONGEST_MESSAGE = 100;
    private static final int MOST_PROBLEMS = 20;
    private static final String ROW = "%-20s %10s %10s %10s  %s%n";

    /** Counts of one reason. */
    private static final class Line {
        private final String place;
        private final String message;
        private long sent;
        private long sentBefore;
        private long left;

        private Line(String place, String message) {
            this.place = place;
            this.message = message;
        }
    }

    private final Map<String, Line> byReason = new TreeMap<>();
    private final List<String> problems = new ArrayList<>();
    private long problemCount;
    private long sent;

    void sent(KeptLetter letter) {
        line(letter).sent++;
        sent++;
    }

    void sentBefore(KeptLetter letter) {
        line(letter).sentBefore++;
    }

    /** Counts a letter that was not chosen. */
    void left(KeptLetter letter) {
        line(letter).left++;
    }

    /** Notes a letter that was chosen and cannot be sent. */
    void problem(ConsumerRecord<?, ?> record, String sentence) {
        problemCount++;
        if (problems.size() < MOST_PROBLEMS) {
            problems.add("%s-%d@%d: %s"
                    .formatted(
                            record.topic(),
                            record.partition(),
                            record.offset(),
                            Printable.of(sentence, LONGEST_MESSAGE)));
        }
    }

    long sent() {
        return sent;
    }

    boolean hasProblems() {
        return problemCount > 0;
    }

    /** @param verb what the first number is: sent, or to send */
    void print(PrintWriter out, PrintWriter err, String verb) {
        if (!byReason.isEmpty()) {
            out.printf(ROW, "reason", verb, "before", "left", "first place and message");
            byReason.forEach((reason, line) -> out.printf(
                    ROW,
                    Printable.of(reason, LONGEST_MESSAGE),
                    line.sent,
                    line.sentBefore,
                    line.left,
                    line.place + ": " + line.message));
        }
        out.flush();
        problems.forEach(problem -> err.println("not sent: " + problem));
        if (problemCount > problems.size()) {
            err.println("not sent: %d more".formatted(problemCount - problems.size()));
        }
        err.flush();
    }

    /** Says of each reason that was met whether sending its letters again helps. */
    void printAdvice(PrintWriter out) {
        for (DeadLetter.Reason reason : DeadLetter.Reason.values()) {
            if (byReason.containsKey(reason.label())) {
                out.printf("%-20s does a replay help? %s%n", reason.label(), reason.replay());
            }
        }
    }

    private Line line(KeptLetter letter) {
        return byReason.computeIfAbsent(
                letter.reason(),
                reason -> new Line(letter.place().toString(), Printable.of(letter.message(), LONGEST_MESSAGE)));
    }
}
