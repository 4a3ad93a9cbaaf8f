// README begins
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
// README ends
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/** Follows the decoders of one site and says which one is in service: BOOTSTRAP_SERVERS SITE EXPLAINER. */
public final class FollowDecoders {

    public static void main(String[] arguments) throws Exception {
        Properties kafka = new Properties();
        kafka.setProperty("bootstrap.servers", arguments[0]);
        String site = arguments[1];
        // README begins
        Explainer explainer = Explainer.read(Path.of(arguments[2]));
        AtomicReference<Decoder> active = new AtomicReference<>(explainer.decoder());
        DecoderSubscription subscription = DecoderSubscription.of(Map.of(site, explainer.decoder()));
        try (DecoderSubscriber subscriber = DecoderSubscriber.start(kafka, "decoders", subscription, published -> {
            active.set(published.decoder());
            System.out.println("version " + published.version() + " is in service");
        })) {
            serve(active); // features = explainer.encoder()..., activations = active.get()...
        }
        // README ends
    }

    /** Stands for the program: it asks for the decoder whenever it decodes. */
    private static void serve(AtomicReference<Decoder> active) throws InterruptedException {
        System.out.println("serving " + active.get().features() + " features");
        new CountDownLatch(1).await();
    }
}
