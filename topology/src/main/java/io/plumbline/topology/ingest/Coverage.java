package io.plumbline.topology.ingest;

import io.plumbline.moments.MomentAccumulator;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * Counts how many tokens a model server processed for some records, and what became of them. All of them count records
 * that have the header {@value #SERVED} and no others, so {@code delivered + cached + notSampled + dropped <= served}
 * for each producer that was heard of whole.
 *
 * <p>A producer that sends seldom, such as one of moments, tells of its tokens as it serves them, in records without a
 * value, and says in {@value #ANNOUNCED} of its rows' record how many of them were told. So what it had open when it
 * was killed is known to be missing. One record may then bring more rows than tokens.
 *
 * @param served tokens that the server processed
 * @param delivered rows that came, masked ones among them
 * @param cached tokens without a row because a prefix cache held them
 * @param notSampled tokens whose rows the producer left out by sampling
 * @param dropped tokens whose rows the producer had to give up
 */
public record Coverage(long served, long delivered, long cached, long notSampled, long dropped) {

    /** The coverage where no producer said how many tokens were served. */
    public static final Coverage UNKNOWN = new Coverage(0, 0, 0, 0, 0);

    /** Names the header without which the others are not counted. */
    public static final String SERVED = MomentAccumulator.TOKENS_SERVED;

    /** Names the header with the tokens of {@value #SERVED} that records before told of. */
    static final String ANNOUNCED = MomentAccumulator.TOKENS_ANNOUNCED;

    static final String CACHED = "cached";
    static final String NOT_SAMPLED = "not_sampled";
    static final String DROPPED = "dropped";

    /** The most tokens of a record, since none stands for a trillion. */
    private static final long MOST = 1L << 40;

    /** The most tokens of any number of records: a sum of more stops here, and adding up all parts stays in a long. */
    private static final long MOST_TOGETHER = 1L << 60;

    public Coverage {
        for (long part : new long[] {served, delivered, cached, notSampled, dropped}) {
            if (part < 0) {
                throw new IllegalArgumentException("a coverage of %d rows".formatted(part));
            }
        }
    }

    /**
     * Returns what the headers of a record say, or {@link #UNKNOWN}.
     *
     * @param rows that the record brings
     * @throws IllegalArgumentException when a header is no count, or the counts do not fit together
     */
    static Coverage of(Headers headers, int rows) {
        if (headers.lastHeader(SERVED) == null) {
            return UNKNOWN;
        }
        long served = count(headers, SERVED);
        long announced = count(headers, ANNOUNCED);
        long cached = count(headers, CACHED);
        long notSampled = count(headers, NOT_SAMPLED);
        long dropped = count(headers, DROPPED);
        if (rows + cached + notSampled + dropped > served || announced > served) {
            throw new IllegalArgumentException(
                    ("%s = %d, but the record brings %d rows and says that %d tokens were cached, %d not sampled, "
                                    + "%d dropped and %d announced before; count every token of the record's rows, "
                                    + "and of the rows that are missing, in %s")
                            .formatted(SERVED, served, rows, cached, notSampled, dropped, announced, SERVED));
        }
        return new Coverage(served - announced, rows, cached, notSampled, dropped);
    }

    private static long count(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        if (header == null || header.value() == null) {
            return 0;
        }
        byte[] digits = header.value();
        long count = 0;
        boolean sound = digits.length > 0 && digits.length <= 13;
        for (byte digit : digits) {
            sound = sound && digit >= '0' && digit <= '9';
            count = sound ? 10 * count + digit - '0' : 0;
        }
        if (!sound || count > MOST) {
            String shown = new String(digits, 0, Math.min(digits.length, 40), StandardCharsets.UTF_8);
            throw new IllegalArgumentException(
                    "the header %s is \"%s\", expected a count in decimal digits, such as 128".formatted(name, shown));
        }
        return count;
    }

    /** Returns whether a producer said how many tokens were served. */
    public boolean isKnown() {
        return served > 0 || delivered > 0;
    }

    /** Returns the sums of both. */
    public Coverage plus(Coverage other) {
        return new Coverage(
                sum(served, other.served),
                sum(delivered, other.delivered),
                sum(cached, other.cached),
                sum(notSampled, other.notSampled),
                sum(dropped, other.dropped));
    }

    private static long sum(long one, long other) {
        return one > MOST_TOGETHER - other ? MOST_TOGETHER : one + other;
    }

    /**
     * Returns {@code part} as a share of the tokens served, in [0, 1]; 0 where nothing is known, and 1 where word of
     * some tokens was lost on its way and their rows were not.
     */
    public double share(long part) {
        return served == 0 ? 0.0 : Math.min(1.0, (double) part / served);
    }
}
