// Package ui is what every page of the console is made of: the frame with its
// navigation, the small parts, the words for times and numbers, the way a page is
// answered, and the files that a page links to.
//
// A part renders what it is given. None looks at a state or an axis: tone, label,
// channel and sentence come from the verdict as they stand.
package ui
