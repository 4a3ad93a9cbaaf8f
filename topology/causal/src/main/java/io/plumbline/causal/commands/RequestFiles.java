package io.plumbline.causal.commands;

import io.plumbline.causal.heads.RequestFile;
import io.plumbline.causal.heads.RequestRows;
import io.plumbline.causal.heads.SiteStudy;
import io.plumbline.explainer.Explainer;
import io.plumbline.records.ActivationBatchException;
import io.plumbline.topology.cli.UsageException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads several dumps of whole requests as one, in the order they were named, up to a number of requests. */
final class RequestFiles implements SiteStudy.Requests, Closeable {

    private final List<RequestFile> files = new ArrayList<>();
    private final int most;

    private RequestFiles(int most) {
        this.most = most;
    }

    /** Opens dumps to run a head on. */
    static RequestFiles open(String option, List<Path> paths, Explainer explainer, int most) throws IOException {
        return open(option, paths, most, path -> RequestFile.open(path, explainer));
    }

    /** Opens dumps to fit on: a transcoder's may lack the residual stream. */
    static RequestFiles openRows(List<Path> paths, Explainer explainer) throws IOException {
        return open("--window", paths, Integer.MAX_VALUE, path -> RequestFile.openRows(path, explainer));
    }

    /** Opens dumps to judge a refit on by a head. */
    static RequestFiles openHeldOut(List<Path> paths, Explainer explainer) throws IOException {
        return open("dump", paths, Integer.MAX_VALUE, path -> RequestFile.open(path, explainer));
    }

    /** Opens dumps of normal traffic to run a head on. */
    static RequestFiles openInDistribution(List<Path> paths, Explainer explainer) throws IOException {
        return open("--in-distribution", paths, Integer.MAX_VALUE, path -> RequestFile.open(path, explainer));
    }

    private interface Opener {
        RequestFile open(Path path) throws IOException;
    }

    private static RequestFiles open(String option, List<Path> paths, int most, Opener opener) throws IOException {
        RequestFiles opened = new RequestFiles(most);
        try {
            for (Path path : paths) {
                if (!Files.isRegularFile(path)) {
                    throw new UsageException("%s = %s: no such file".formatted(option, path));
                }
                opened.files.add(opener.open(path));
            }
        } catch (ActivationBatchException refused) {
            opened.close();
            throw new UsageException(String.valueOf(refused.getMessage()));
        } catch (IOException | RuntimeException broken) {
            opened.close();
            throw broken;
        }
        return opened;
    }

    @Override
    public int count() {
        return Math.min(most, files.stream().mapToInt(RequestFile::count).sum());
    }

    @Override
    public RequestRows request(int index) {
        int left = index;
        for (RequestFile file : files) {
            if (left < file.count()) {
                return file.request(left);
            }
            left -= file.count();
        }
        throw new IndexOutOfBoundsException("request %d of %d".formatted(index, count()));
    }

    boolean haveTokenIds() {
        return files.stream().allMatch(RequestFile::hasTokenIds);
    }

    long rows() {
        long rows = 0;
        for (int i = 0; i < count(); i++) {
            rows += request(i).rows();
        }
        return rows;
    }

    @Override
    public void close() throws IOException {
        for (RequestFile file : files) {
            file.close();
        }
    }
}
