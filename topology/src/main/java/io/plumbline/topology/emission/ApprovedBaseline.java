package io.plumbline.topology.emission;

import io.plumbline.wire.AtomicFile;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A person's approval of a baseline: the signature of its checksum, in a file of its own beside it, {@code
 * NAME.approval}, 144 hexadecimal digits.
 */
public final class ApprovedBaseline {

    private static final String SUFFIX = ".approval";

    /** Names who approved, as {@code signing.approvers} calls the owner of the key. */
    public record Approver(String name, String keyId) {}

    private ApprovedBaseline() {}

    /**
     * Signs a baseline.
     *
     * @return the file with the signature
     * @throws IllegalArgumentException when the file carries no checksum
     */
    public static Path approve(Path baseline, DecoderSigner signer) throws IOException {
        Path file = approval(baseline);
        String signature = HexFormat.of().formatHex(signer.signBaseline(checksum(baseline)));
        AtomicFile.write(file, signature.getBytes(StandardCharsets.US_ASCII));
        return file;
    }

    /**
     * Returns why nobody of these has approved a baseline, or null.
     *
     * @param content checksum of the baseline as it was read: another file may lie there by now; null: it has none
     * @param approvers the keys of each, by their names
     */
    public static @Nullable String refusal(Path baseline, @Nullable String content, Map<String, TrustedKeys> approvers)
            throws IOException {
        Path file = approval(baseline);
        if (!Files.isRegularFile(file)) {
            return "is approved by nobody: no file %s; `plumbline approve-baseline --key KEY %s` writes one"
                    .formatted(file, baseline);
        }
        RecordSignature signature = signature(file, content == null ? "" : content);
        return approvers.values().stream().anyMatch(keys -> signature.refusal(keys) == null)
                ? null
                : "is not as %s approved it, or approved by somebody else: expected a signature of %s in %s"
                        .formatted(
                                signature.keyId() == null ? "anybody" : "the key " + signature.keyId(),
                                String.join(" or ", approvers.keySet()),
                                file);
    }

    /**
     * Returns who of these has approved a baseline; null where none has.
     *
     * @param content checksum of the baseline as it was read, by which the file names itself
     * @param approvers the keys of each, by their names
     */
    public static @Nullable Approver approver(Path baseline, String content, Map<String, TrustedKeys> approvers)
            throws IOException {
        Path file = approval(baseline);
        if (!Files.isRegularFile(file)) {
            return null;
        }
        RecordSignature signature = signature(file, content);
        return approvers.entrySet().stream()
                .filter(one -> signature.refusal(one.getValue()) == null)
                .map(one -> new Approver(one.getKey(), String.valueOf(signature.keyId())))
                .findFirst()
                .orElse(null);
    }

    private static RecordSignature signature(Path approval, String content) throws IOException {
        byte[] signed;
        try {
            signed = HexFormat.of().parseHex(Files.readString(approval).strip());
        } catch (IllegalArgumentException noSignature) {
            signed = new byte[0];
        }
        return RecordSignature.ofBaseline(content, signed);
    }

    /** Returns the file beside a baseline that its approval lies in, or would. */
    public static Path approval(Path baseline) {
        return baseline.resolveSibling(baseline.getFileName() + SUFFIX);
    }

    private static String checksum(Path baseline) throws IOException {
        try (Safetensors tensors = Safetensors.open(baseline)) {
            String checksum = tensors.checksum();
            if (checksum == null) {
                throw new IllegalArgumentException("%s carries no checksum of itself: no baseline".formatted(baseline));
            }
            tensors.requireUnchanged();
            return checksum;
        }
    }
}
