// Package browser is the worker's side of a connector's browser. A profile is a credential: it
// is kept sealed in the store, opened into files of this machine for one run, and sealed again
// when the run and its browser are gone. The connector starts and drives the browser and never
// sees the key; this package never looks into what it packs.
//
// A profile has a folder below the root, named after connector and connection:
//
//	lock    held from opening to sealing, so that one browser at most uses the profile here;
//	        the lease of the run does the same across machines
//	live    a link to the files, which are in memory where the machine has room for them
//	opened  which generation the files are of; written when they are whole
//
// Whatever moment a worker dies in, the next start finds one of these states: no whole files,
// which are removed; whole ones of the generation that is kept, which are sealed; or older
// ones, which are removed.
package browser
