package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.assessment.SiteFiles;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.SigningKeys;
import io.plumbline.topology.reload.FirstRead;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApproveBaselineCommandTest {

    @TempDir
    private Path folder;

    private Path baseline;
    private SigningKeys ada;

    @BeforeEach
    void create() throws Exception {
        WatchedFolder.createAdapting(folder, "unused:9092", "mode: observe");
        baseline = folder.resolve("baseline.safetensors");
        ada = SigningKeys.create(folder, "ada");
        Files.writeString(
                folder.resolve(WatchedFolder.FILE),
                "signing: {approvers: {ada: ada.pub}, baselines: on}\n",
                StandardOpenOption.APPEND);
    }

    private List<String> problems() throws IOException {
        return ConfigCheck.sites(MonitorConfig.load(folder.resolve(WatchedFolder.FILE)))
                .get(0)
                .problems();
    }

    @Test
    void aBaselineIsTakenWithTheSignatureOfAnApproverAlone() throws Exception {
        assertTrue(
                problems().get(0).contains("is approved by nobody"), problems().toString());

        SigningKeys eve = SigningKeys.create(folder, "eve");
        assertEquals(0, approve(eve).exitCode());
        assertTrue(
                problems().get(0).contains("expected a signature of ada"),
                problems().toString());

        Shell approved = approve(ada);
        assertEquals("wrote %s.approval\n".formatted(baseline), approved.out());
        assertEquals(List.of(), problems());

        Files.writeString(folder.resolve("baseline.safetensors.approval"), "none");
        assertTrue(
                problems().get(0).contains("expected a signature of ada"),
                problems().toString());
    }

    @Test
    void anApprovalIsOfOneContentAndOfNoOther() throws Exception {
        approve(ada);
        Path approval = folder.resolve("baseline.safetensors.approval");
        Path other = Files.createDirectories(folder.resolve("other"));
        WatchedFolder.createWithCandidate(other, "unused:9092", "mode: observe");
        Files.delete(baseline);
        Files.copy(other.resolve("candidate.safetensors"), baseline);
        assertTrue(Files.exists(approval));
        assertTrue(
                problems().get(0).contains("expected a signature of ada"),
                problems().toString());
    }

    @Test
    void whatWasReadIsHeldToTheApprovalAndNotWhatLiesThereByThen() throws Exception {
        MonitorConfig config = MonitorConfig.load(folder.resolve(WatchedFolder.FILE));
        Map<String, WatchedSite> read = WatchedFolder.sites(config);
        WatchedFolder.writeBaseline(folder.resolve("explainer"), baseline, 80);
        assertEquals(0, approve(ada).exitCode());
        List<String> problems = ConfigCheck.sites(config, new SiteFiles(read, read.keySet()))
                .get(0)
                .problems();
        assertTrue(problems.get(0).contains("expected a signature of ada"), problems.toString());
    }

    @Test
    void aCandidatesBaselineIsTakenWithASignatureOfItsOwn() throws Exception {
        String signing = Files.readString(folder.resolve(WatchedFolder.FILE)).replaceFirst("(?s).*(?=signing:)", "");
        WatchedFolder.createWithCandidate(folder, "unused:9092", "mode: propose");
        Files.writeString(folder.resolve(WatchedFolder.FILE), signing, StandardOpenOption.APPEND);
        approve(ada);
        Path candidate = folder.resolve("candidate.safetensors");
        assertTrue(
                problems().get(0).startsWith("candidate: baseline: %s is approved by nobody".formatted(candidate)),
                problems().toString());
        assertEquals(
                0, Shell.run("approve-baseline", "--key", ada.key(), candidate).exitCode());
        assertEquals(List.of(), problems());
    }

    @Test
    void anApprovalThatComesAfterItsBaselineIsSeenAndMakesNoOtherConfiguration() throws Exception {
        FirstRead before = FirstRead.of(folder.resolve(WatchedFolder.FILE), log -> {});
        approve(ada);
        FirstRead after = FirstRead.of(folder.resolve(WatchedFolder.FILE), log -> {});
        assertNotEquals(before.seen(), after.seen());
        assertEquals(before.prints(), after.prints());
    }

    @Test
    void whatIsNoBaselineIsNotSigned() throws Exception {
        Path none = Files.writeString(folder.resolve("none.safetensors"), "none");
        Shell refused = Shell.run("approve-baseline", "--key", ada.key(), none);
        assertEquals(2, refused.exitCode(), refused.out());
        assertEquals(
                2,
                Shell.run("approve-baseline", "--key", ada.publicKey(), baseline)
                        .exitCode());
    }

    private Shell approve(SigningKeys keys) {
        return Shell.run("approve-baseline", "--key", keys.key(), baseline);
    }
}
