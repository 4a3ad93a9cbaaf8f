package io.plumbline.topology.operate;

import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.UsageException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Runs {@code plumbline health}: asks a running process how it is; for container engines, in an image that holds no
 * other program.
 */
@Command(
        name = "health",
        mixinStandardHelpOptions = true,
        description =
                "Asks a running process whether it is ready, prints what it says, and exits with 0 for yes and 3 for no"
                        + " or no answer.",
        footerHeading = "Examples:%n",
        footer = {"  plumbline health", "  plumbline health --url http://127.0.0.1:9464/healthz"})
final class HealthCommand implements Callable<Integer> {

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int OK = 200;

    @Option(
            names = "--url",
            defaultValue = "http://127.0.0.1:9464/readyz",
            paramLabel = "URL",
            description = "/readyz or /healthz of a process. Default: ${DEFAULT-VALUE}.")
    URI url;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        HttpRequest request;
        try {
            request = HttpRequest.newBuilder(url).timeout(PATIENCE).build();
        } catch (IllegalArgumentException e) {
            throw new UsageException(
                    "--url = %s: expected an address such as http://127.0.0.1:9464/readyz".formatted(url));
        }
        HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
        HttpResponse<String> answer;
        try {
            answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new IOException("no answer from %s within %d s".formatted(url, PATIENCE.toSeconds()), e);
        }
        spec.commandLine().getOut().println(answer.body().strip());
        spec.commandLine().getOut().flush();
        return answer.statusCode() == OK ? ExitCodes.FINE : ExitCodes.FAILURE;
    }
}
