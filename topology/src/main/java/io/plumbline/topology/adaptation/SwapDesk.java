package io.plumbline.topology.adaptation;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import io.plumbline.topology.assessment.AdaptationMessage;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides what becomes of a site's decoder: what may go into service by itself, what waits for a person, and what a
 * person may ask for. Pure but for reading a candidate back: what it remembers goes in and comes out.
 */
final class SwapDesk {

    private final String site;
    private final SwapRules rules;
    private final Trained trained;
    private final @Nullable Trained other;
    private final PublishedCandidates candidates;

    /**
     * Says what is in service.
     *
     * @param version of it, 0 while it is the trained decoder as it came
     * @param adapted whether it is an adapted one
     */
    record Standing(long version, boolean adapted) {

        String describe() {
            return adapted ? "version %d (adapted)".formatted(version) : "the trained decoder";
        }
    }

    /**
     * The trained decoder of an explainer.
     *
     * @param sha256 of it, which names the explainer
     * @param isCandidate whether the explainer is the site's candidate, and not the one it began with
     */
    record Trained(String sha256, boolean isCandidate, Making making) {

        /** Makes a version of it. */
        interface Making {
            Publication as(long version, Map<String, String> lineage);
        }

        Publication as(long version, Map<String, String> lineage) {
            return making.as(version, lineage);
        }

        /** Returns what the state says while this explainer serves. */
        @Nullable
        String named() {
            return isCandidate ? sha256 : null;
        }
    }

    /**
     * @param trained of the explainer that serves while this desk decides
     * @param other of the one that may take its place, or whose place it took; null: none
     */
    SwapDesk(String site, SwapRules rules, Trained trained, @Nullable Trained other, PublishedCandidates candidates) {
        this.site = site;
        this.rules = rules;
        this.trained = trained;
        this.other = other;
        this.candidates = candidates;
    }

    /** Returns the answer to a request to adapt that is not worth a refit, or null where it is. */
    @Nullable
    AdapterAnswer withoutRefit(AdaptationMessage request, SwapState state, Standing standing, long nowMs) {
        long at = request.windowEndMs();
        if (state.pinned()) {
            String reason = "pinned to %s: nothing is fitted; plumbline decoders unpin --site %s lets it adapt again"
                    .formatted(standing.describe(), site);
            return AdapterAnswer.said(AdaptationReport.plain(site, at, Outcome.HELD, reason, 0));
        }
        if (at < state.pausedUntilMs() || state.pausedUntilMs() == SwapState.FROM_THE_NEXT_WINDOW) {
            SwapState paused = state.pausedUntilMs() == SwapState.FROM_THE_NEXT_WINDOW
                    ? state.pausedUntil(at + rules.pause().toMillis())
                    : state;
            String reason = "a decoder of this site was rolled back: nothing is fitted to windows that end before %s"
                    .formatted(time(paused.pausedUntilMs()));
            return AdapterAnswer.said(AdaptationReport.plain(site, at, Outcome.PAUSED, reason, 0), paused);
        }
        SwapState.Waiting waiting = state.waiting();
        if (waiting != null
                && nowMs < waiting.expiresMs()
                && at < waiting.windowEndMs() + SwapRules.LEAST_WAIT.toMillis()) {
            String reason =
                    ("candidate %d waits for: plumbline decoders approve --config FILE --site %s --candidate %d; "
                                    + "nothing was fitted, windows that end from %s on may replace it")
                            .formatted(
                                    waiting.number(),
                                    site,
                                    waiting.number(),
                                    time(waiting.windowEndMs() + SwapRules.LEAST_WAIT.toMillis()));
            return AdapterAnswer.said(AdaptationReport.plain(site, at, Outcome.WAITING, reason, 0));
        }
        long swaps = state.swaps(at, rules);
        if (rules.mode() == SwapRules.Mode.AUTO && swaps >= rules.maxSwaps()) {
            String reason =
                    "%s went into service within %s before this window's end, max_swaps allows %d: nothing was fitted"
                            .formatted(Amounts.count(swaps, "decoder"), period(), rules.maxSwaps());
            return AdapterAnswer.said(AdaptationReport.plain(site, at, Outcome.LIMITED, reason, 0));
        }
        return null;
    }

    /** Takes a decoder that passed the gate into service, or lets it wait for approval. */
    AdapterAnswer fitted(AdaptationReport report, Publication fitted, SwapState state, Standing standing, long nowMs) {
        if (rules.mode() == SwapRules.Mode.AUTO) {
            long version = standing.version() + 1;
            return AdapterAnswer.published(
                    report.published(version),
                    fitted.as(DecoderKind.ADAPTED, version),
                    state.inService(version, new SwapState.Fitted(report.windowEndMs(), report.pooledRows()))
                            .swappedAt(report.windowEndMs(), rules));
        }
        long number = state.candidates() + 1;
        SwapState.Waiting before = state.waiting();
        SwapState.Waiting waiting = new SwapState.Waiting(
                number,
                report.windowEndMs(),
                report.pooledRows(),
                nowMs + rules.candidateLifetime().toMillis(),
                fitted.decoder().sha256());
        String reason = "%s; %s waits until %s for: plumbline decoders approve --config FILE --site %s --candidate %d"
                .formatted(
                        report.reason(),
                        before == null ? "it" : "in place of candidate %d it".formatted(before.number()),
                        time(waiting.expiresMs()),
                        site,
                        number);
        return AdapterAnswer.published(
                report.with(Outcome.PROPOSED, reason, number),
                fitted.as(DecoderKind.CANDIDATE, number),
                state.proposed(waiting));
    }

    /**
     * Lets the candidate explainer wait for approval: its features are others, so that a person decides in every mode.
     * Returns null where it waits already, serves, is not the one that is configured here, or was measured beside a
     * decoder that serves no longer.
     */
    @Nullable
    AdapterAnswer proposed(AdaptationMessage.Propose request, SwapState state, Standing standing, long nowMs) {
        SwapState.Waiting waiting = state.explainer();
        if (other == null
                || !other.isCandidate()
                || !other.sha256().equals(request.explainerSha256())
                || state.pinned()
                || standing.version() != request.version()
                || (waiting != null
                        && nowMs < waiting.expiresMs()
                        && other.sha256().equals(waiting.decoderSha256()))) {
            return null;
        }
        long number = state.candidates() + 1;
        long expires = nowMs + rules.candidateLifetime().toMillis();
        String reason = String.format(
                Locale.ROOT,
                "the candidate explainer reconstructed significantly better in %d of the last %s, FVU %.4f against"
                        + " %.4f in the newest; features get other indices: it waits until %s for: plumbline decoders"
                        + " approve --config FILE --site %s --candidate %d",
                request.better(),
                Amounts.count(request.windows(), "window"),
                request.fvu(),
                request.fvuInService(),
                time(expires),
                site,
                number);
        return AdapterAnswer.said(
                AdaptationReport.plain(site, request.windowEndMs(), Outcome.PROPOSED, reason, number),
                state.proposedExplainer(
                        new SwapState.Waiting(number, request.windowEndMs(), 0, expires, other.sha256())));
    }

    /** Takes the candidate explainer into service, as a person said. */
    private AdapterAnswer promote(
            AdaptationMessage.Command command, SwapState.Waiting waiting, SwapState state, Standing standing) {
        if (other == null || !other.sha256().equals(waiting.decoderSha256())) {
            return rejected(
                    ("candidate %d is the explainer whose trained decoder is %s, and the one that is configured here is"
                                    + " another")
                            .formatted(waiting.number(), waiting.decoderSha256()),
                    state);
        }
        Map<String, String> lineage = new TreeMap<>();
        lineage.put("approved_candidate", Long.toString(waiting.number()));
        lineage.put("approved_by", command.by());
        lineage.put("replaces_explainer", trained.sha256());
        long version = standing.version() + 1;
        String reason = ("the candidate explainer is in service as version %d, approved by %s; features have its"
                        + " indices, and plumbline decoders rollback --site %s brings the one before back")
                .formatted(version, command.by(), site);
        return AdapterAnswer.published(
                AdaptationReport.plain(site, waiting.windowEndMs(), Outcome.APPROVED, reason, version),
                other.as(version, lineage),
                state.explainedBy(version, other.named()).swappedAt(waiting.windowEndMs(), rules));
    }

    /** Brings the explainer back whose place the candidate took. */
    private AdapterAnswer explainerReturns(
            AdaptationReport report, Trained before, SwapState state, Standing standing) {
        long version = standing.version() + 1;
        Map<String, String> lineage =
                Map.of("reverts_version", Long.toString(standing.version()), "replaces_explainer", trained.sha256());
        return AdapterAnswer.published(
                report.published(version), before.as(version, lineage), state.explainedBy(version, before.named()));
    }

    /** Returns the explainer whose place this one took; null where it took none. */
    private @Nullable Trained before() {
        return trained.isCandidate() ? other : null;
    }

    /**
     * Returns the answer to a request whose refit a command overtook: what was fitted was judged against a decoder that
     * may not serve any more, or nobody wants it.
     *
     * @param fitted the report of the refit
     * @param state after the command
     */
    AdapterAnswer overtaken(
            AdaptationMessage request, AdaptationReport fitted, SwapState state, Standing standing, long nowMs) {
        String dropped = "a command was carried out while this was fitted, and what was fitted is dropped: ";
        AdapterAnswer without = withoutRefit(request, state, standing, nowMs);
        return without == null
                ? AdapterAnswer.said(
                        fitted.with(Outcome.REFUSED, dropped + "it was judged against what served or waited before", 0))
                : new AdapterAnswer(
                        fitted.with(
                                without.outcome(), dropped + without.report().reason(), 0),
                        null,
                        without.state(),
                        null);
    }

    /**
     * Brings the trained decoder back since the site is aligned again, and withdraws a candidate that was made for the
     * other traffic. Returns null where there is nothing to undo.
     */
    @Nullable
    AdapterAnswer reverted(AdaptationMessage.Revert request, SwapState state, Standing standing) {
        AdaptationReport report = AdaptationReport.plain(
                site,
                request.windowEndMs(),
                Outcome.REVERTED,
                "the site is aligned again; the trained decoder returns",
                0);
        SwapState.Waiting waiting = state.waiting();
        if (!standing.adapted()) {
            return waiting == null
                    ? null // the refit it would undo was refused, or is undone already
                    : AdapterAnswer.said(
                            report.with(
                                    Outcome.WITHDRAWN,
                                    "the site is aligned again: candidate %d waits no longer"
                                            .formatted(waiting.number()),
                                    waiting.number()),
                            state.withoutCandidate());
        }
        if (state.pinned()) {
            return state.holding()
                    ? null
                    : AdapterAnswer.said(
                            report.with(
                                    Outcome.HELD,
                                    ("the site is aligned again, and pinned to %s: "
                                                    + "it stays until plumbline decoders unpin --site %s")
                                            .formatted(standing.describe(), site),
                                    0),
                            state.holdingARevert());
        }
        return trainedReturns(report, state, standing);
    }

    private static String figures(AdaptationMessage.RollBack request, String other) {
        boolean withKl = Double.isFinite(request.klActive()) && Double.isFinite(request.klTrained());
        String figures = String.format(
                Locale.ROOT,
                "version %d %s significantly worse than %s in %d of the %s after its swap,"
                        + " FVU %.4f against %.4f in the last",
                request.version(),
                withKl ? "reconstructed, or let the model predict," : "reconstructed",
                other,
                request.worse(),
                Amounts.count(request.windows(), "window"),
                request.fvuActive(),
                request.fvuTrained());
        return withKl
                ? figures
                        + String.format(Locale.ROOT, ", KL %.4f against %.4f", request.klActive(), request.klTrained())
                : figures;
    }

    /**
     * Brings the trained decoder back since the adapted one did worse on the windows after its swap. Returns null where
     * that one is no longer in service.
     */
    @Nullable
    AdapterAnswer rolledBack(AdaptationMessage.RollBack request, SwapState state, Standing standing) {
        Trained before = standing.adapted() ? null : before();
        if ((!standing.adapted() && before == null) || standing.version() != request.version()) {
            return null; // it is no longer in service
        }
        String figures = figures(request, before == null ? "the trained decoder" : "the explainer before");
        long at = request.windowEndMs();
        if (state.pinned()) {
            return state.holding()
                    ? null
                    : AdapterAnswer.said(
                            AdaptationReport.plain(site, at, Outcome.HELD, figures + "; the site is pinned to it", 0),
                            state.holdingARevert());
        }
        SwapState paused = state.pausedUntil(at + rules.pause().toMillis());
        if (before != null) {
            return explainerReturns(
                    AdaptationReport.plain(
                            site, at, Outcome.ROLLED_BACK, figures + "; the explainer before it returns", 0),
                    before,
                    paused,
                    standing);
        }
        String reason = "%s; the trained decoder returns, and nothing is fitted to windows that end before %s"
                .formatted(figures, time(paused.pausedUntilMs()));
        return trainedReturns(AdaptationReport.plain(site, at, Outcome.ROLLED_BACK, reason, 0), paused, standing);
    }

    private AdapterAnswer trainedReturns(AdaptationReport report, SwapState state, Standing standing) {
        long version = standing.version() + 1;
        Map<String, String> lineage = Map.of(
                "reverts_version",
                Long.toString(standing.version()),
                "window_end_ms",
                Long.toString(report.windowEndMs()));
        return AdapterAnswer.published(
                report.published(version), trained.as(version, lineage), state.inService(version, null));
    }

    /**
     * Does what a person asks for, or says why not and what to ask for instead.
     *
     * @param nowMs broker time of the command
     */
    AdapterAnswer command(AdaptationMessage.Command command, SwapState state, Standing standing, long nowMs) {
        return switch (command.verb()) {
            case APPROVE -> approve(command, state, standing, nowMs);
            case PIN -> pin(command, state, standing);
            case UNPIN ->
                state.pinned()
                        ? done(Outcome.UNPINNED, "it adapts and reverts again", state.pinned(false))
                        : rejected("it is not pinned", state);
            case ROLL_BACK -> rollBack(command, state, standing);
        };
    }

    private AdapterAnswer approve(AdaptationMessage.Command command, SwapState state, Standing standing, long nowMs) {
        SwapState.Waiting waiting = state.waiting();
        if (state.pinned()) {
            return pinned(state, standing);
        }
        SwapState.Waiting explainer = state.explainer();
        if (explainer != null && explainer.number() == command.version()) {
            return nowMs >= explainer.expiresMs()
                    ? rejected(expired(explainer), state.proposedExplainer(null))
                    : promote(command, explainer, state, standing);
        }
        if (waiting == null && explainer != null) {
            return rejected(instead(command.version(), explainer.number()), state);
        }
        if (waiting == null) {
            String before = state.candidates() == 0
                    ? "there never was one"
                    : ("candidate %d, the last, was approved, withdrawn or has expired, "
                                    + "or another decoder came into service since")
                            .formatted(state.candidates());
            return rejected("no candidate waits: %s".formatted(before), state);
        }
        if (waiting.number() != command.version()) {
            return rejected(instead(command.version(), waiting.number()), state);
        }
        if (nowMs >= waiting.expiresMs()) {
            return rejected(expired(waiting), state.withoutCandidate());
        }
        PublishedCandidates.Candidate candidate;
        try {
            candidate = candidates.read(site, waiting.number());
        } catch (IllegalStateException e) {
            return rejected("candidate %d: %s".formatted(waiting.number(), e.getMessage()), state);
        }
        Publication published = candidate.publication();
        String sha256 = published.decoder().sha256();
        if (!sha256.equals(waiting.decoderSha256())) {
            String other = "candidate %d on the topic is the decoder %s, the one that passed the gate was %s: another"
                    + " program writes there";
            return rejected(other.formatted(waiting.number(), sha256, waiting.decoderSha256()), state);
        }
        Map<String, String> lineage = new TreeMap<>(published.lineage());
        lineage.put("approved_candidate", Long.toString(waiting.number()));
        lineage.put("approved_by", command.by());
        lineage.put("approved_ms", Long.toString(nowMs));
        lineage.put("candidate_sha256", candidate.artefactSha256());
        long version = standing.version() + 1;
        String reason = "candidate %d is in service as version %d, approved by %s"
                .formatted(waiting.number(), version, command.by());
        return AdapterAnswer.published(
                AdaptationReport.plain(site, waiting.windowEndMs(), Outcome.APPROVED, reason, version),
                published.as(DecoderKind.ADAPTED, version).with(lineage),
                state.inService(version, new SwapState.Fitted(waiting.windowEndMs(), waiting.rows()))
                        .swappedAt(waiting.windowEndMs(), rules));
    }

    private String instead(long number, long waiting) {
        return ("candidate %d does not wait, candidate %d does; look at its report and write: plumbline decoders"
                        + " approve --config FILE --site %s --candidate %d")
                .formatted(number, waiting, site, waiting);
    }

    private static String expired(SwapState.Waiting waiting) {
        return "candidate %d expired at %s (candidate_lifetime); one of the next windows may bring another"
                .formatted(waiting.number(), time(waiting.expiresMs()));
    }

    private AdapterAnswer pin(AdaptationMessage.Command command, SwapState state, Standing standing) {
        long wanted = command.version();
        if (wanted == 0 && standing.adapted()) {
            String reason = "the trained decoder returns and stays until it is unpinned, by " + command.by();
            return state.pinned()
                    ? pinned(state, standing)
                    : trainedReturns(
                            AdaptationReport.plain(site, 0, Outcome.PINNED, reason, 0), state.pinned(true), standing);
        }
        if (wanted > 0 && wanted != standing.version()) {
            String other =
                    "version %d is not in service and older ones are not kept; %s is: plumbline decoders pin --site"
                            + " %s pins that";
            return rejected(other.formatted(wanted, standing.describe(), site), state);
        }
        String reason = "%s stays until it is unpinned, by %s".formatted(standing.describe(), command.by());
        return done(Outcome.PINNED, reason, state.pinned(true));
    }

    private AdapterAnswer rollBack(AdaptationMessage.Command command, SwapState state, Standing standing) {
        if (state.pinned()) {
            return pinned(state, standing);
        }
        Trained before = standing.adapted() ? null : before();
        if (before != null) {
            String returns = "%s rolled back version %d; the explainer before it is in service again"
                    .formatted(command.by(), standing.version());
            return explainerReturns(
                    AdaptationReport.plain(site, 0, Outcome.ROLLED_BACK, returns, 0),
                    before,
                    state.pausedUntil(SwapState.FROM_THE_NEXT_WINDOW),
                    standing);
        }
        if (!standing.adapted()) {
            return rejected("the trained decoder is in service: there is nothing to go back from", state);
        }
        String reason = "%s rolled back version %d; the trained decoder is in service again"
                .formatted(command.by(), standing.version());
        return trainedReturns(
                AdaptationReport.plain(site, 0, Outcome.ROLLED_BACK, reason, 0),
                state.pausedUntil(SwapState.FROM_THE_NEXT_WINDOW),
                standing);
    }

    private AdapterAnswer pinned(SwapState state, Standing standing) {
        return rejected(
                "it is pinned to %s; first: plumbline decoders unpin --site %s".formatted(standing.describe(), site),
                state);
    }

    private AdapterAnswer done(Outcome outcome, String reason, SwapState next) {
        return AdapterAnswer.said(AdaptationReport.plain(site, 0, outcome, reason, 0), next);
    }

    private AdapterAnswer rejected(String reason, SwapState state) {
        return done(Outcome.REJECTED, reason, state);
    }

    /** Returns the swap period as it is configured, if not in the same unit: {@code 24h} for a day. */
    private String period() {
        return rules.swapPeriod().toString().substring("PT".length()).toLowerCase(Locale.ROOT);
    }

    private static String time(long ms) {
        return Instant.ofEpochMilli(ms).toString();
    }
}
