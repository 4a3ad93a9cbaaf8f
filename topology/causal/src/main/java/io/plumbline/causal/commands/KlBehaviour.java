package io.plumbline.causal.commands;

import io.plumbline.adaptation.Behaviour;
import io.plumbline.adaptation.BehaviourChoice;
import io.plumbline.adaptation.GateTest;
import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.heads.HeadException;
import io.plumbline.causal.heads.HeadLimits;
import io.plumbline.causal.heads.Interval;
import io.plumbline.causal.heads.KlJudge;
import io.plumbline.causal.heads.ModelChange;
import io.plumbline.causal.heads.OpenHead;
import io.plumbline.causal.heads.RequestRows;
import io.plumbline.causal.heads.SiteStudy;
import io.plumbline.comparison.Estimate;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.topology.cli.BehaviourProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Judges refits of {@code plumbline adapt} by KL, with a head and requests in dumps. */
public final class KlBehaviour implements BehaviourProvider {

    @Override
    public Opened open(Asked asked) throws IOException {
        RequestFiles heldOut = RequestFiles.openHeldOut(asked.heldOut(), asked.explainer());
        Choosing toChoose = asked.choosing();
        RequestFiles choosing = null;
        RequestFiles normal = null;
        try {
            if (toChoose != null) {
                choosing = RequestFiles.openHeldOut(toChoose.dumps(), asked.explainer());
            }
            if (!asked.inDistribution().isEmpty()) {
                normal = RequestFiles.openInDistribution(asked.inDistribution(), asked.explainer());
            }
            OpenHead head = OpenHead.open(asked.head(), HeadLimits.DEFAULTS, asked.explainer());
            KlJudge judge = new KlJudge(
                    asked.explainer(),
                    head,
                    chosen(heldOut, asked.requests()),
                    choosing == null || toChoose == null ? null : chosen(choosing, toChoose.requests()),
                    normal,
                    asked.maximumGrowth());
            return new OpenedFiles(judge, head, Arrays.asList(heldOut, choosing, normal));
        } catch (HeadException failed) {
            close(Arrays.asList(heldOut, choosing, normal));
            throw HeadOptions.explained(failed);
        } catch (IOException | RuntimeException failed) {
            close(Arrays.asList(heldOut, choosing, normal));
            throw failed;
        }
    }

    @Override
    public Clean openClean(HeadLocation head, Explainer explainer, List<Path> dumps, int most) throws IOException {
        return CleanBehaviour.open(head, explainer, dumps, most);
    }

    @Override
    public OutputChange change(HeadLocation location, Explainer explainer, List<Path> before, List<Path> after)
            throws IOException {
        try (RequestFiles filesBefore = RequestFiles.openHeldOut(before, explainer);
                RequestFiles filesAfter = RequestFiles.openHeldOut(after, explainer);
                OpenHead head = OpenHead.open(location, HeadLimits.DEFAULTS, explainer)) {
            ModelChange change = ModelChange.between(head, filesBefore, filesAfter);
            Interval kl = change.kl();
            return new OutputChange(
                    kl == null ? null : new Estimate(kl.value(), kl.low(), kl.high()),
                    change.requests(),
                    change.leftOut());
        } catch (HeadException failed) {
            throw HeadOptions.explained(failed);
        }
    }

    private static void close(List<@Nullable RequestFiles> files) throws IOException {
        for (RequestFiles file : files) {
            if (file != null) {
                file.close();
            }
        }
    }

    private static SiteStudy.Requests chosen(RequestFiles files, @Nullable Set<Long> requests) {
        if (requests == null) {
            return files;
        }
        int[] places = requests.stream().mapToInt(Math::toIntExact).sorted().toArray();
        return new SiteStudy.Requests() {
            @Override
            public int count() {
                return places.length;
            }

            @Override
            public RequestRows request(int index) {
                return files.request(places[index]);
            }
        };
    }

    private record OpenedFiles(KlJudge judge, OpenHead head, List<@Nullable RequestFiles> files) implements Opened {

        @Override
        public Behaviour judge(Decoder trained, Decoder current, Decoder proposed) {
            return judge.judge(trained, current, proposed);
        }

        @Override
        public GateTest inDistribution(Decoder trained, Decoder proposed) {
            return judge.inDistribution(trained, proposed);
        }

        @Override
        public @Nullable BehaviourChoice choice() {
            return judge.choice();
        }

        @Override
        public void close() throws IOException {
            head.close();
            KlBehaviour.close(files);
        }
    }
}
