package io.plumbline.topology.adaptation;

import io.plumbline.topology.assessment.AdaptationMessage;
import org.jspecify.annotations.Nullable;

/** Knows who may decide about decoders. Any number of threads. */
public interface Approvers {

    /** Returns the command under the name of who is known to have given it; null where nobody who may decide did. */
    AdaptationMessage.@Nullable Command known(String site, AdaptationMessage.Command command);

    /** Returns why a command was not taken, and what to do instead. */
    String refusal(AdaptationMessage.Command command);
}
