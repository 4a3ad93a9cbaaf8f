package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.streams.test.TestRecord;

/** Assembles what a subscriber makes of records, for tests. */
public final class AssembledDecoders {

    private AssembledDecoders() {}

    /** Every complete candidate of the site; fails at a record that is refused. */
    public static List<PublishedDecoder> candidates(
            List<TestRecord<byte[], byte[]>> records, String site, Decoder trained) {
        return candidates(records, site, List.of(trained));
    }

    /** Every complete candidate that was made from one of these; fails at a record that is refused. */
    public static List<PublishedDecoder> candidates(
            List<TestRecord<byte[], byte[]>> records, String site, List<Decoder> trained) {
        DecoderSubscription subscription = DecoderSubscription.ofCandidates(site, trained.get(0));
        for (Decoder other : trained.subList(1, trained.size())) {
            subscription = subscription.orCandidates(site, other);
        }
        return of(records, subscription);
    }

    /** Every complete version; fails at a record that is refused. */
    public static List<PublishedDecoder> of(List<TestRecord<byte[], byte[]>> records, String site, Decoder trained) {
        return of(records, DecoderSubscription.of(Map.of(site, trained)));
    }

    /** Every complete version that was made from one of these trained decoders; fails at a record that is refused. */
    public static List<PublishedDecoder> of(
            List<TestRecord<byte[], byte[]>> records, String site, List<Decoder> trained) {
        DecoderSubscription subscription = DecoderSubscription.of(Map.of(site, trained.get(0)));
        for (Decoder other : trained.subList(1, trained.size())) {
            subscription = subscription.or(site, other);
        }
        return of(records, subscription);
    }

    private static List<PublishedDecoder> of(
            List<TestRecord<byte[], byte[]>> records, DecoderSubscription subscription) {
        List<PublishedDecoder> complete = new ArrayList<>();
        try (DecoderAssembler assembler = new DecoderAssembler(subscription, new HeldDecoders())) {
            for (TestRecord<byte[], byte[]> record : records) {
                Header signed = record.headers().lastHeader(RecordSignature.HEADER);
                DecoderAssembler.Step step =
                        assembler.accept(record.key(), record.value(), signed == null ? null : signed.value());
                if (step instanceof DecoderAssembler.Step.Complete found) {
                    complete.add(found.decoder());
                } else if (step instanceof DecoderAssembler.Step.Refused refused) {
                    throw new AssertionError(refused.toString());
                }
            }
        }
        return complete;
    }
}
