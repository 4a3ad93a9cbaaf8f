package io.plumbline.topology.emission;

import io.plumbline.topology.adaptation.Approvers;
import io.plumbline.topology.assessment.AdaptationMessage;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Takes commands by the keys that signed them: the name under a decision is then that of a key, and not one that
 * somebody typed. Immutable.
 */
public final class SignedCommands implements Approvers {

    private final Map<String, TrustedKeys> byName;

    /** @param byName the keys of each; empty: everybody who can write the topic decides, under the name they type */
    public SignedCommands(Map<String, TrustedKeys> byName) {
        this.byName = new TreeMap<>(byName);
    }

    @Override
    public AdaptationMessage.@Nullable Command known(String site, AdaptationMessage.Command command) {
        if (byName.isEmpty()) {
            return command;
        }
        byte[] signed = HexFormat.of().parseHex(command.signature());
        RecordSignature signature = RecordSignature.ofCommand(site, command.unsigned(), signed);
        return byName.entrySet().stream()
                .filter(one -> signature.refusal(one.getValue()) == null)
                .map(one -> command.givenBy(one.getKey()))
                .findFirst()
                .orElse(null);
    }

    @Override
    public String refusal(AdaptationMessage.Command command) {
        return "%s: expected the key of %s, which --key FILE signs by"
                .formatted(
                        command.signature().isEmpty()
                                ? "the command is not signed"
                                : "no key of signing.approvers signed the command",
                        String.join(" or ", byName.keySet()));
    }
}
