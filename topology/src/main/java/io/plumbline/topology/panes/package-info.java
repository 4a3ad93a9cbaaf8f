/**
 * Holds what the stream keeps between commits: panes, their parts, their messages and their stores.
 *
 * <p><b>Parts.</b> A pane ({@link Pane}) is the moment of its rows and the parts that are collected beside it
 * ({@link PaneParts}). A part says how a record enters, how two merge and how they are sent and stored; accumulator,
 * store, composer and window move parts and know none. The first message of a pane says how many make it up, so that
 * one which does not come is missed: the window is then not complete.
 *
 * <p><b>Layout</b> of the {@code moments} topic: {@link PaneMessage}; of the stores: {@link PaneKeys}. Both carry a
 * version byte. What decides which rows are summed and how windows are cut ({@link Agreement}) is stored beside each
 * site's state.
 */
@NullMarked
package io.plumbline.topology.panes;

import org.jspecify.annotations.NullMarked;
