/** Tests the comparison of an explainer before and after a change of its model. */
package io.plumbline.comparison;
