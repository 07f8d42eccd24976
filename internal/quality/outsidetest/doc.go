// Package outsidetest builds and runs modules as people outside this repository write them. They get the two modules
// of this repository from a proxy of files that is made from the working tree, and all others from the local module
// cache, so that the tests need no network.
package outsidetest
