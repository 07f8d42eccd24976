// Package localfile reads trees of local files that grow, move and vanish while they are
// read. A connector declares the kinds of files (Store) and what a line, a document or an
// open file means; the reader does the rest:
//
//   - Its bookmark is bounded: a watermark, at most 512 files with their places, and a
//     digest of all others. A hundred thousand files make less than 100 KiB.
//   - Files are read in the order in which they changed. What changed in the last week
//     comes first; older files follow as the catch-up bookmark.
//   - A file that grew is read on when the bytes before its place are still the same, and
//     from the beginning otherwise. Records have keys of their content, so that reading
//     again writes nothing twice.
//   - A slice ends after 4 MiB, 1,000 records or 5 seconds. What was read of a file that
//     shrank or was replaced meanwhile is dropped before it is sent.
//   - What cannot be read becomes a gap, by file or by line. A file that is gone deletes
//     nothing, also after a full refresh: absence is retention. A source of which the owner wants otherwise
//     names the stream that mirrors its files (Mirror).
//   - Every pass accounts for every store in the stream coverage_diagnostics.
package localfile
