/** What the list of failing features is worth, against direct measures on later rows. */
package io.plumbline.attribution;
