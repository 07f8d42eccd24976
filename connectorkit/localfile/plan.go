package localfile

import (
	"slices"
	"time"
)

// left reports whether a bookmark has files to read.
func (r *reader) left(c *cursor) bool {
	return slices.ContainsFunc(r.walk.files, func(f *found) bool { return f.standing == waiting && c.spans(f) })
}

// spans reports whether a file belongs to the bookmark.
func (c *cursor) spans(f *found) bool {
	return f.change >= c.From && (c.Until == 0 || f.change < c.Until)
}

// wanted reports whether this run collects anything of the store.
func (r *reader) wanted(s *Store) bool {
	return slices.ContainsFunc(s.Streams, func(name string) bool { return r.selected[name] })
}

// plan decides for every file of the bookmark whether it is to be read.
func (r *reader) plan() []*found {
	c := r.cur
	held := r.heldFiles()
	byPath, byID := map[string]*entry{}, map[string]*entry{}
	for _, e := range c.Files {
		byPath[e.Path] = e
		if e.ID != "" {
			byID[e.ID] = e
		}
	}
	for _, f := range r.walk.files {
		if e := byPath[f.path]; e != nil && e.ID == f.id {
			delete(byID, f.id) // it is where it was
		}
	}
	var todo []*found
	used := map[*entry]bool{}
	sums := map[int]uint32{}
	rest := map[int][]*found{}
	add := func(f *found) {
		if !r.f.RecoveryOnly() || held[f.key()] {
			todo = append(todo, f)
		}
	}
	for _, f := range r.walk.files {
		if f.standing != waiting || !c.spans(f) {
			continue
		}
		if !f.store.reads() && f.store.Listed == "" || !r.wanted(f.store) {
			f.standing = accounted
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
			r.compare(f, e, held, add)
		case f.change > c.Watermark:
			add(f)
		default:
			bucket, sum := f.digest()
			sums[bucket] ^= sum
			rest[bucket] = append(rest[bucket], f)
		}
	}
	if !r.f.RecoveryOnly() {
		c.Files = slices.DeleteFunc(c.Files, func(e *entry) bool { return !used[e] })
	}
	for bucket := range buckets {
		same := sums[bucket] == c.sum(bucket)
		if !same && !r.f.RecoveryOnly() {
			c.toggle(bucket, c.sum(bucket))
		}
		for _, f := range rest[bucket] {
			switch {
			case same && (held[f.key()] || r.again(f)):
				c.toggle(f.digest()) // it gets an entry
				add(f)
			case same || r.f.RecoveryOnly():
				f.standing, f.read = accounted, f.size
			default:
				add(f)
			}
		}
	}
	slices.SortStableFunc(todo, func(a, b *found) int {
		switch {
		case a.change < b.change:
			return -1
		case a.change > b.change:
			return 1
		}
		return 0
	})
	return todo
}

// compare decides about a file with a known place.
func (r *reader) compare(f *found, e *entry, held map[string]bool, add func(*found)) {
	same := e.Path == f.path && e.Size == f.size && e.Change == f.change && !e.Open
	old := e.Offset < f.size && !e.Torn && f.store.Lines != nil && r.began.Sub(time.Unix(0, f.change)) > unfinished
	switch {
	case same && e.Bad && (e.Final || !held[f.key()]):
		f.standing = unreadable
	case same && !e.Bad && !old && !r.again(f):
		f.standing, f.read = accounted, min(e.Offset, f.size)
		if f.store.Lines == nil {
			f.read = f.size
		}
	default:
		add(f)
	}
}

// again reports whether a file has to be read because of what is said about it elsewhere.
func (r *reader) again(f *found) bool {
	return r.src.Again != nil && f.id != "" && r.cur.Looked != 0 && r.src.Again(f.id, time.Unix(0, r.cur.Looked))
}

// heldFiles are the keys of files whose gaps this run was served.
func (r *reader) heldFiles() map[string]bool {
	held := map[string]bool{}
	for _, g := range r.f.Gaps() {
		held[string(g.RecordKey)] = true
	}
	return held
}
