// README begins
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
// README ends
import io.plumbline.explainer.Encoder;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Follows the decoders of one site and says which one is in service. Arguments: bootstrap servers, explainer. */
public final class FollowDecoders {

    public static void main(String[] arguments) throws Exception {
        Properties kafka = new Properties();
        kafka.setProperty("bootstrap.servers", arguments[0]);
        Path folder = Path.of(arguments[1]);
        // README begins
        Explainer explainer = Formats.read(folder);
        AtomicReference<Decoder> active = new AtomicReference<>(explainer.decoder());
        DecoderSubscription subscription = DecoderSubscription.of(Map.of("encoder.layer.2", explainer.decoder()));
        try (DecoderSubscriber subscriber = DecoderSubscriber.start(
                kafka, "decoders", subscription, published -> active.set(published.decoder()))) {
            serve(explainer.encoder(), active);
        }
        // README ends
    }

    /** Stands for a program, which asks for the decoder whenever it decodes; prints when another one is in service. */
    private static void serve(Encoder encoder, AtomicReference<Decoder> active) throws InterruptedException {
        Decoder last = active.get();
        System.out.printf("encoding %d features%n", encoder.features());
        while (true) {
            Decoder now = active.get();
            if (now != last) {
                System.out.println("a decoder is in service, sha256 " + now.sha256());
                last = now;
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }
}
