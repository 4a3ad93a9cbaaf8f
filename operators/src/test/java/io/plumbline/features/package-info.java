/** Tests whether the list of features that are active more or less often keeps its promise. */
package io.plumbline.features;
