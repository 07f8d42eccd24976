// Package files makes trees of local files as programs leave them on a person's computer,
// with a seed, and knows what is in them. A hand changes a tree while a connector reads it:
// it appends, leaves half a line, cuts, replaces, touches, restores with old times,
// compresses, moves and deletes.
//
// A folder for imports has exports of an invented person's account in it, packed and unpacked;
// there the hand does what a person does: it downloads a newer one, copies, renames, unpacks.
//
// A Tree knows what exists now, file by file, and what ever existed: a reader that keeps
// everything it has met may hold the second, and must hold the first or have declared the
// file, or the line, as missing.
package files
