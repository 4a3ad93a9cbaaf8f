/**
 * Asks the brokers before and while the applications run: topics and their settings, rights, refusals, client settings,
 * and what happens to commits and outputs that a broker does not take.
 */
@NullMarked
package io.plumbline.topology.broker;

import org.jspecify.annotations.NullMarked;
