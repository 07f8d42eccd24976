package localfile

import (
	"cmp"
	"slices"
	"time"
)

// hasUnreadFiles reports whether a bookmark has files to read.
func (r *sourceReader) hasUnreadFiles(c *fileCursor) bool {
	return slices.ContainsFunc(r.walk.files, func(f *foundFile) bool {
		return f.standing == fileWaiting &&
			c.coversFile(f)
	})
}

// coversFile reports whether a file belongs to the bookmark.
func (c *fileCursor) coversFile(f *foundFile) bool {
	return f.change >= c.From && (c.Until == 0 || f.change < c.Until)
}

// collectsStore reports whether this run collects anything of the store.
func (r *sourceReader) collectsStore(s *Store) bool {
	return slices.ContainsFunc(s.Streams, func(name string) bool { return r.selected[name] })
}

// planFiles decides for every file of the bookmark whether it is to be read.
func (r *sourceReader) planFiles() []*foundFile {
	c := r.cur
	held := r.heldFiles()
	byPath, byID := c.indexEntries(r.walk.files)
	var todo []*foundFile
	used := map[*fileEntry]bool{}
	sums := map[int]uint32{}
	rest := map[int][]*foundFile{}
	add := func(f *foundFile) {
		if !r.f.RecoveryOnly() || held[f.fileKey()] {
			todo = append(todo, f)
		}
	}
	for _, f := range r.walk.files {
		if f.standing != fileWaiting || !c.coversFile(f) {
			continue
		}
		if !f.store.readsContent() && f.store.Listed == "" || !r.collectsStore(f.store) {
			f.standing = fileAccounted
			continue
		}
		if e := byPath[f.path]; e != nil && e.ID == f.id {
			f.entry = e
		} else if e := byID[f.id]; f.id != "" && e != nil && !used[e] {
			f.entry = e // it was moved, renamed or compressed
		}
		switch e := f.entry; {
		case e != nil:
			used[e] = true
			r.compareEntry(f, e, held, add)
		case f.change > c.Watermark:
			add(f)
		default:
			bucket, sum := f.versionDigest()
			sums[bucket] ^= sum
			rest[bucket] = append(rest[bucket], f)
		}
	}
	if !r.f.RecoveryOnly() {
		c.Files = slices.DeleteFunc(c.Files, func(e *fileEntry) bool { return !used[e] })
	}
	for bucket := range digestBuckets {
		r.compareBucket(bucket, sums[bucket], rest[bucket], held, add)
	}
	slices.SortStableFunc(todo, func(a, b *foundFile) int { return cmp.Compare(a.change, b.change) })
	return todo
}

// indexEntries returns the entries by path and, for files that are not where they were, by id.
func (c *fileCursor) indexEntries(files []*foundFile) (byPath, byID map[string]*fileEntry) {
	byPath, byID = map[string]*fileEntry{}, map[string]*fileEntry{}
	for _, e := range c.Files {
		byPath[e.Path] = e
		if e.ID != "" {
			byID[e.ID] = e
		}
	}
	for _, f := range files {
		if e := byPath[f.path]; e != nil && e.ID == f.id {
			delete(byID, f.id) // it is where it was
		}
	}
	return byPath, byID
}

// compareBucket decides about the old files of a bucket, which the bookmark knows only by the sum of their versions.
func (r *sourceReader) compareBucket(bucket int, sum uint32, files []*foundFile, held map[string]bool,
	add func(*foundFile)) {
	c := r.cur
	same := sum == c.bucketSum(bucket)
	if !same && !r.f.RecoveryOnly() {
		c.toggleDigest(bucket, c.bucketSum(bucket))
	}
	for _, f := range files {
		switch {
		case same && (held[f.fileKey()] || r.mustReadAgain(f)):
			c.toggleDigest(f.versionDigest()) // it gets an entry
			add(f)
		case same || r.f.RecoveryOnly():
			f.standing, f.read = fileAccounted, f.size
		default:
			add(f)
		}
	}
}

// compareEntry decides about a file with a known place.
func (r *sourceReader) compareEntry(f *foundFile, e *fileEntry, held map[string]bool, add func(*foundFile)) {
	same := e.Path == f.path && e.Size == f.size && e.Change == f.change && !e.Open
	old := e.Offset < f.size && !e.Torn && f.store.Lines != nil && r.began.Sub(time.Unix(0, f.change)) > unfinishedAge
	switch {
	case same && e.Bad && (e.Final || !held[f.fileKey()]):
		f.standing = fileUnreadable
	case same && !e.Bad && !old && !r.mustReadAgain(f):
		f.standing, f.read = fileAccounted, min(e.Offset, f.size)
		if f.store.Lines == nil {
			f.read = f.size
		}
	default:
		add(f)
	}
}

// mustReadAgain reports whether a file has to be read again because of information in other files.
func (r *sourceReader) mustReadAgain(f *foundFile) bool {
	return r.src.Again != nil && f.id != "" && r.cur.Looked != 0 && r.src.Again(f.id, time.Unix(0, r.cur.Looked))
}

// heldFiles returns the keys of files with gaps that this run was served.
func (r *sourceReader) heldFiles() map[string]bool {
	held := map[string]bool{}
	for _, g := range r.f.Gaps() {
		held[string(g.RecordKey)] = true
	}
	return held
}
