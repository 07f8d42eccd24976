// Package localarchive reads exports that a person puts into a folder: a zip, a tar, or what
// was unpacked from one, all alike. A connector declares the kinds of members (Kind) and what
// each means; connectorkit/localfile does what it does for every file, and this package the
// rest:
//
//   - A file counts when it has not changed for ten seconds.
//   - Nothing is unpacked on disk, and no directory of an archive is held in memory.
//   - An archive that was read once is known by its digest, under whatever name it comes again.
//   - Reading goes on at the member, and in it, at which it was interrupted.
//   - Limits bound entries and bytes, measured while they are read, independent of what an archive declares for
//     itself. Links, names that lead elsewhere, encrypted members and archives in archives are
//     declared as missing and not opened.
//   - An archive that ends too early is read as far as it goes.
//   - What an export lacks, and an export that is removed from the folder, deletes nothing, also after a full
//     refresh: absence proves nothing. Undoing an import deletes what only that file brought.
//   - Each archive has an account: what it holds and its source does not collect, by kind and count
//     (LeftOut), and what is not recognized, by a pattern of its name.
package localarchive
