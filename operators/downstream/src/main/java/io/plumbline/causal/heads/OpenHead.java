package io.plumbline.causal.heads;

import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.heads.HeadException.Fault;
import io.plumbline.explainer.Explainer;

/** A head that holds something which must be given back: a session of ONNX Runtime, or a connection. */
public interface OpenHead extends Head, AutoCloseable {

    /**
     * Opens the head of an explainer's site. A worker that does not answer is asked again at each call.
     *
     * @throws HeadException when a file cannot be loaded, or what answers is for another kind or width of explainer
     */
    static OpenHead open(HeadLocation location, HeadLimits limits, Explainer explainer) {
        if (location instanceof HeadLocation.AtWorker worker) {
            WorkerHead head = new WorkerHead(worker, limits, explainer.isTranscoder(), explainer.targetWidth());
            try {
                head.greet();
            } catch (HeadException failed) {
                if (failed.fault() == Fault.WRONG_SHAPE) {
                    head.close();
                    throw failed;
                }
            }
            return head;
        }
        OnnxHead head = OnnxHead.open((HeadLocation.InFile) location, limits);
        try {
            HeadShape.requireFit(
                    location, head.readsResidual(), head.width(), explainer.isTranscoder(), explainer.targetWidth());
            return head;
        } catch (HeadException misfit) {
            head.close();
            throw misfit;
        }
    }

    /** Returns how often it was run. */
    long runs();

    @Override
    void close();
}
