package io.plumbline.causal.commands;

import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.heads.CleanRequestsStudy;
import io.plumbline.causal.heads.HeadException;
import io.plumbline.causal.heads.HeadLimits;
import io.plumbline.causal.heads.OpenHead;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.cli.BehaviourProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Clean dumps and the head that is run on their requests, for {@code plumbline baseline --head}. */
record CleanBehaviour(RequestFiles files, OpenHead head, CleanRequestsStudy study) implements BehaviourProvider.Clean {

    static CleanBehaviour open(HeadLocation head, Explainer explainer, List<Path> dumps, int most) throws IOException {
        RequestFiles files = RequestFiles.open("--activations", dumps, explainer, Integer.MAX_VALUE);
        try {
            OpenHead opened = OpenHead.open(head, HeadLimits.DEFAULTS, explainer);
            return new CleanBehaviour(files, opened, new CleanRequestsStudy(explainer, opened, files, most));
        } catch (HeadException failed) {
            files.close();
            throw HeadOptions.explained(failed);
        } catch (RuntimeException failed) {
            files.close();
            throw failed;
        }
    }

    @Override
    public Map<Statistic, Double> of(List<Integer> requests) {
        try {
            return study.of(requests);
        } catch (HeadException failed) {
            throw HeadOptions.explained(failed);
        }
    }

    @Override
    public List<byte[]> sample(long mostBytes) {
        return study.sample(mostBytes);
    }

    @Override
    public void close() throws IOException {
        head.close();
        files.close();
    }
}
