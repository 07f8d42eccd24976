package localfile

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// Statuses of a store in the account.
const (
	statusCollected   = "collected"
	statusInventory   = "inventory_only"
	statusExcluded    = "excluded"
	statusDeferred    = "deferred"
	statusMissing     = "missing"
	statusUnavailable = "unavailable"
	statusUnaccounted = "unaccounted"
	statusUnsupported = "unsupported"
)

// maxUnknownNames bounds the account of what no store fits.
const maxUnknownNames = 50

// Coverage is the account of one store: every file present is read, unreadable, excluded
// or waits for its turn.
type Coverage struct {
	ID              string           `json:"id"`
	Store           string           `json:"store"`
	Stream          string           `json:"stream,omitzero"`
	Status          string           `json:"status"`
	Reason          string           `json:"reason"`
	FilesPresent    int64            `json:"files_present"`
	FilesRead       int64            `json:"files_read"`
	FilesUnreadable int64            `json:"files_unreadable"`
	FilesExcluded   int64            `json:"files_excluded"`
	FilesWaiting    int64            `json:"files_waiting"`
	BytesPresent    int64            `json:"bytes_present"`
	BytesRead       int64            `json:"bytes_read"`
	LinesSkipped    int64            `json:"lines_skipped"`
	LinesByKind     map[string]int64 `json:"lines_skipped_by_kind,omitempty"`
	Oldest          string           `json:"oldest,omitzero"`
	Newest          string           `json:"newest,omitzero"`
	// File is the file below an import folder that the account is about, if it is about one, and Files
	// are some of those that it is about.
	File  string   `json:"file,omitzero"`
	Files []string `json:"files,omitempty"`
	// LeftOut counts what is known and not collected, by kind; Unrecognized the rest, by pattern.
	LeftOut      map[string]int64 `json:"left_out,omitempty"`
	Unrecognized map[string]int64 `json:"unrecognized,omitempty"`
}

// FileAccount returns the account of what a file of an import folder holds and its source does not
// collect. ID is one of the file's content.
func FileAccount(id, file string, left Leftovers) *Coverage {
	c := &Coverage{ID: "file:" + id, Store: file, File: file, Status: statusCollected,
		Reason: "everything in it is collected", LeftOut: left.Known, Unrecognized: left.Unknown}
	switch {
	case len(left.Unknown) > 0:
		c.Status, c.Reason = statusUnsupported, "it holds files that this version does not recognize"
	case len(left.Known) > 0:
		c.Status, c.Reason = statusExcluded, "it holds content that is not collected"
	}
	return c
}

// storeCoverage returns the coverage record of every store after a pass.
func (r *sourceReader) storeCoverage() []connectorkit.Record {
	byStore := map[*Store]*Coverage{}
	var list []*Coverage
	for i := range r.src.Stores {
		s := &r.src.Stores[i]
		c := &Coverage{ID: s.Name, Store: s.Name, Reason: s.Reason}
		if len(s.Streams) > 0 {
			c.Stream = s.Streams[0]
		}
		byStore[s], list = c, append(list, c)
	}
	oldest, newest := map[*Store]int64{}, map[*Store]int64{}
	for _, f := range slices.Concat(r.walk.files, r.walk.closed) {
		c := byStore[f.store]
		c.FilesPresent++
		c.BytesPresent += f.size
		switch f.standing {
		case fileAccounted:
			c.FilesRead++
			c.BytesRead += f.read
		case fileUnreadable:
			c.FilesUnreadable++
		case fileExcluded:
			c.FilesExcluded++
		default:
			c.FilesWaiting++
		}
		if at, known := oldest[f.store]; f.mod != 0 && (!known || f.mod < at) {
			oldest[f.store] = f.mod
		}
		newest[f.store] = max(newest[f.store], f.mod)
	}
	var out []connectorkit.Record
	for i := range r.src.Stores {
		s := &r.src.Stores[i]
		c := list[i]
		c.Oldest, c.Newest = formatDate(oldest[s]), formatDate(newest[s])
		c.LinesByKind = maps.Clone(r.steady.Skipped[s.Name])
		if r.history != nil {
			for kind, n := range r.history.Skipped[s.Name] {
				if c.LinesByKind == nil {
					c.LinesByKind = map[string]int64{}
				}
				c.LinesByKind[kind] += n
			}
		}
		for _, n := range c.LinesByKind {
			c.LinesSkipped += n
		}
		c.Status = r.coverageStatus(s, c)
		if c.Status == statusUnavailable {
			c.Reason = "this user may not read the folder: " + permissionNext(runtime.GOOS)
		}
		if c.Reason == "" {
			c.Reason = c.Status
		}
		out = append(out, connectorkit.Upsert(c))
	}
	return append(out, r.unknownCoverage()...)
}

// permissionNext names the system setting that lets the program read a folder of its own user.
func permissionNext(system string) string {
	if system == "darwin" {
		return "switch on Full Disk Access for the program that collects, in System Settings, Privacy & Security"
	}
	return "let the user that collects read it"
}

func (r *sourceReader) coverageStatus(s *Store, c *Coverage) string {
	switch {
	case slices.ContainsFunc(r.walk.trees, func(t *rootTree) bool { return t.Name == s.Root && t.isDenied() }):
		return statusUnavailable
	case c.FilesPresent == 0:
		return statusMissing
	case !s.readsContent() && s.Listed != "":
		return statusInventory
	case !s.readsContent() || c.FilesExcluded == c.FilesPresent:
		return statusExcluded
	case !r.collectsStore(s) || c.FilesWaiting > 0:
		return statusDeferred
	}
	return statusCollected
}

// unknownCoverage accounts for what no store fits. An account that applies no more is taken back.
func (r *sourceReader) unknownCoverage() []connectorkit.Record {
	names := slices.Sorted(maps.Keys(r.walk.unknown))
	var out []connectorkit.Record
	var rest int64
	for _, name := range names[min(len(names), maxUnknownNames):] {
		rest += int64(r.walk.unknown[name])
	}
	names = names[:min(len(names), maxUnknownNames)]
	now := map[string]bool{}
	leave := func(id, kind string, n int64, c Coverage) {
		now[id] = true
		c.ID, c.Store, c.FilesPresent, c.FilesExcluded, c.Files = id, kind, n, n, r.walk.loose[kind]
		out = append(out, connectorkit.Upsert(&c))
	}
	for _, kind := range slices.Sorted(maps.Keys(r.walk.left.Known)) {
		n := r.walk.left.Known[kind]
		leave("left:"+kind, kind, n, Coverage{Status: statusExcluded, Reason: "this source does not collect it",
			LeftOut: map[string]int64{kind: n}})
	}
	for _, kind := range slices.Sorted(maps.Keys(r.walk.left.Unknown)) {
		n := r.walk.left.Unknown[kind]
		leave("unknown:"+kind, kind, n, Coverage{Status: statusUnsupported, Reason: "this version does not recognize it",
			Unrecognized: map[string]int64{kind: n}})
	}
	add := func(id, name string, n int64) {
		now[id] = true
		out = append(out, connectorkit.Upsert(&Coverage{
			ID: id, Store: name, Status: statusUnaccounted, Reason: "this connector does not know what it holds",
			FilesPresent: n,
		}))
	}
	for _, name := range names {
		add("unknown:"+name, name, int64(r.walk.unknown[name]))
	}
	if rest > 0 {
		add("unknown:", "others", rest)
	}
	for _, id := range r.steady.Unknown {
		if !now[id] {
			out = append(out, connectorkit.Delete(id))
		}
	}
	r.steady.Unknown = slices.Sorted(maps.Keys(now))
	return out
}

func formatDate(nano int64) string {
	if nano == 0 {
		return ""
	}
	return time.Unix(0, nano).UTC().Format(time.RFC3339)
}

// ListedFile is the record of a file that is listed and not opened.
type ListedFile struct {
	ID             string `json:"id"`
	Store          string `json:"store"`
	RelativePath   string `json:"relative_path"`
	PathHash       string `json:"path_hash"`
	Type           string `json:"type"`
	SizeBytes      int64  `json:"size_bytes"`
	MtimeEpoch     int64  `json:"mtime_epoch"`
	Classification string `json:"classification"`
	Reason         string `json:"reason"`
}

func listedFileRecord(f *foundFile) connectorkit.Record {
	sum := sha256.Sum256([]byte(f.store.Name + "\x00" + f.rel))
	id := hex.EncodeToString(sum[:16])
	return connectorkit.Upsert(&ListedFile{
		ID: id, Store: f.store.Name, RelativePath: f.rel, PathHash: id, Type: "file", SizeBytes: f.size,
		MtimeEpoch: f.mod / int64(time.Second), Classification: statusInventory, Reason: f.store.Reason,
	})
}
