package io.plumbline.topology.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the whole way in Python, as a new user goes it: the wheel is built and installed, a transformer is captured, by
 * rows and by moments, its site drifts, the page says so, and the decoder that Plumbline publishes enters a live SAE of
 * sae_lens. Left out where the Python has no torch, transformers or sae_lens, which take minutes to install.
 */
class PythonTorchIT {

    /** Serves a GPT-2 whose embeddings lie in the four dimensions that the watched decoder reproduces badly. */
    private static final String SERVE = """
            import sys
            import torch, transformers
            from safetensors.torch import load_file
            from sae_lens import StandardSAE, StandardSAEConfig
            from plumbline_sae import Accumulation, MomentAccumulator, Producer
            from plumbline_sae.capture import capture
            from plumbline_sae.saelens import LiveSAE
            kafka, folder, site, by = {"bootstrap.servers": sys.argv[1]}, sys.argv[2], sys.argv[3], sys.argv[4]
            torch.manual_seed(7)
            model = transformers.GPT2Model(transformers.GPT2Config(vocab_size=4096, n_embd=8, n_layer=1, n_head=2)).eval()
            scale = torch.tensor([.12, .10, .08, .06, 3.0, 2.5, 2.0, 1.5])
            with torch.no_grad():
                model.wte.weight.copy_(torch.randn(4096, 8) * scale)
            sae = StandardSAE(StandardSAEConfig(d_in=8, d_sae=16, apply_b_dec_to_input=False))
            sae.load_state_dict(load_file(folder + "/sae_weights.safetensors"))
            sae.requires_grad_(False)
            rows = model.wte.weight.detach()
            codes, trained = sae.encode(rows), sae.W_dec.detach().clone()
            error = (sae.decode(codes) - rows).square().sum()
            with LiveSAE(sae, site, kafka) as live, Producer(kafka) as producer:
                sink = MomentAccumulator(producer, {site: Accumulation(10_000)}) if by == "moments" else producer
                with capture(model, sink, {site: "wte"}) as captured, torch.no_grad():
                    for step in range(33):
                        with captured.batch([f"request-{step}"], timestamp_ms=1_700_000_000_000 + 625 * step):
                            model(input_ids=torch.randint(0, 4096, (1, 8)))
                assert captured.stats.failed == 0 and captured.stats.rows == 33 * 8, captured.stats
                assert sink.flush(60) == 0
                assert live.wait_for(1, 90), live.error
                with live.forward_lock(), torch.no_grad():
                    assert torch.equal(sae.encode(rows), codes), "a code moved"
                    assert not torch.equal(sae.W_dec, trained)
                    assert (sae.decode(codes) - rows).square().sum() < error / 2
            print("swapped to version", live.version)
            """;

    @TempDir
    private static Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"rows", "moments"})
    void aDriftOfATransformerEndsInASwapThatMovesNoCode(String by) throws Exception {
        Python sources = Python.ofMachine(Files.createDirectory(folder.resolve(by)));
        Python python = sources.withWheel().orElse(sources);
        Python.Run imports = python.run("-c", "import torch, transformers, sae_lens");
        assumeTrue(
                imports.exitCode() == 0, "needs torch, transformers and sae-lens: pip install sae-lens transformers");
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve(by).resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = WatchedFolder.create(folder.resolve(by).resolve("site"), broker.bootstrapServers());
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL)) {
                Python.Run served = python.run(
                        "-c",
                        SERVE,
                        broker.bootstrapServers(),
                        folder.resolve(by).resolve("site").resolve("explainer"),
                        WatchedFolder.SITE,
                        by);
                assertEquals(0, served.exitCode(), served.out() + served.err());
                assertEquals("swapped to version 1", served.out().strip());
                assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
                BrokerClient.awaitThat(() -> page(runtime).contains("\"verdict\":\"drifted\""), () -> page(runtime));
            }
            assertEquals(List.of(), client.readAll(config.topics().deadLetters()));
        }
    }

    /** Returns what the page shows of the site's windows. */
    private static String page(PlumblineRuntime runtime) {
        URI windows = URI.create("http://%s:%d/api/sites/%s/windows"
                .formatted(
                        runtime.httpAddress().getHostString(),
                        runtime.httpAddress().getPort(),
                        WatchedFolder.SITE));
        try {
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(windows).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
