/** Compares the list of failing features with direct measures on later rows. */
package io.plumbline.attribution;
