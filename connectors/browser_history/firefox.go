package browserhistory

import (
	"context"
	"fmt"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// bookmarkRecord is a bookmark of the person.
type bookmarkRecord struct {
	ID         string   `json:"id"`
	Browser    string   `json:"browser"`
	Profile    string   `json:"profile"`
	URL        string   `json:"url"`
	Host       string   `json:"host,omitzero"`
	Title      string   `json:"title,omitzero"`
	Folder     string   `json:"folder,omitzero"`
	Tags       []string `json:"tags,omitempty"`
	AddedAt    string   `json:"added_at,omitzero"`
	ModifiedAt string   `json:"modified_at,omitzero"`
}

// visitTypes are how a page was come to.
var visitTypes = []string{
	"other", "link", "typed", "bookmark", "embed", "redirect_permanent", "redirect_temporary", "download", "framed_link",
	"reload",
}

func readFirefox(ctx context.Context, h *historyReader) error {
	if ok, err := h.hasColumns(ctx, "moz_historyvisits", "id", "place_id", "visit_date"); err != nil || !ok {
		return firstError(err, missingTableError("moz_historyvisits"))
	}
	if ok, err := h.hasColumns(ctx, "moz_places", "id", "url"); err != nil || !ok {
		return firstError(err, missingTableError("moz_places"))
	}
	if err := h.firefoxVisits(ctx); err != nil {
		return err
	}
	if ok, err := h.hasColumns(ctx, "moz_bookmarks", "id", "type", "fk", "parent", "title", "guid", "dateAdded",
		"lastModified"); err != nil || !ok {
		return err
	}
	return h.firefoxBookmarks(ctx)
}

func (h *historyReader) firefoxVisits(ctx context.Context) error {
	own, err := h.columnList(ctx, "moz_historyvisits", "t", "from_visit", "visit_type")
	if err != nil {
		return err
	}
	title, err := h.columnOrDefault(ctx, "moz_places", "p", "title", "NULL")
	if err != nil {
		return err
	}
	return h.readTable(ctx, historyTable{
		name: "moz_historyvisits", epoch: epochSince1970, far: recheckDepth, at: "t.visit_date", window: "t.visit_date >= ?2",
		fields: append([]string{"p.url", title}, own...), joined: "LEFT JOIN moz_places p ON p.id = t.place_id",
		take: func(row []any) {
			url, host := cleanAddress(row[2])
			v := visitRecord{
				ID: h.rowKey(row[0], row[1]), Browser: h.browser, Profile: h.profile, URL: url, Host: host,
				Title: boundedText(row[3], maxTitleBytes), Timestamp: epochSince1970.formatTime(row[1]),
				From: nonZeroInteger(row[4]), Transition: enumName(visitTypes, row[5], -1),
			}
			h.emitRecord("visits", host, len(url)+len(v.Title), &v)
		},
	})
}

const (
	typeBookmark   = 1
	typeFolder     = 2
	tagsFolderGUID = "tags________"
	maxFolders     = 20_000
	maxNesting     = 32
)

// bookmarkFolders are the folders of bookmarks, by row.
type bookmarkFolders map[int64]struct {
	parent      int64
	title, guid string
}

func (f bookmarkFolders) folderPath(row int64) (path string, tag bool) {
	for range maxNesting {
		one, ok := f[row]
		if !ok || one.guid == tagsFolderGUID || row == one.parent {
			return path, one.guid == tagsFolderGUID
		}
		if one.title != "" && path != "" {
			path = one.title + "/" + path
		} else if one.title != "" {
			path = one.title
		}
		row = one.parent
	}
	return path, false
}

func (h *historyReader) firefoxBookmarks(ctx context.Context) error {
	all, err := h.loadFolders(ctx)
	if err != nil {
		return err
	}
	tags, err := h.loadBookmarkTags(ctx)
	if err != nil {
		return err
	}
	since := int64(0)
	if m := h.marks["moz_bookmarks"]; m != nil {
		since = m.Recent
	}
	err = h.readTable(ctx, historyTable{
		name: "moz_bookmarks", epoch: epochSince1970, at: "t.dateAdded", window: "t.dateAdded >= ?2 OR t.lastModified >= ?2",
		fields: []string{"p.url", "t.title", "t.type", "t.parent", "t.guid", "t.lastModified", "t.fk"},
		joined: "LEFT JOIN moz_places p ON p.id = t.fk",
		beside: func(row []any) []string {
			folder, _ := all.folderPath(integerValue(row[5]))
			return append([]string{folder}, tags[integerValue(row[8])]...)
		},
		take: func(row []any) {
			folder, tag := all.folderPath(integerValue(row[5]))
			if guid := boundedText(row[6], 100); integerValue(row[4]) == typeBookmark && !tag && guid != "" {
				url, host := cleanAddress(row[2])
				h.emitRecord("bookmarks", host, len(url), &bookmarkRecord{
					ID: h.f.ID + "/" + guid, Browser: h.browser, Profile: h.profile, URL: url, Host: host,
					Title: boundedText(row[3], maxTitleBytes), Folder: folder,
					Tags: tags[integerValue(row[8])], AddedAt: epochSince1970.formatTime(row[1]),
					ModifiedAt: epochSince1970.formatTime(row[7]),
				})
			}
		},
	})
	if err != nil {
		return err
	}
	return h.removedBookmarks(ctx, since) // without a bookmark of ours too: what it stored is not known
}

func (h *historyReader) loadFolders(ctx context.Context) (bookmarkFolders, error) {
	rows, err := h.db.QueryContext(ctx, "SELECT rowid, parent, title, guid FROM moz_bookmarks WHERE type = ? LIMIT ?",
		typeFolder, maxFolders)
	if err != nil {
		return nil, fmt.Errorf("read folders of bookmarks: %w", err)
	}
	defer rows.Close()
	all := bookmarkFolders{}
	for rows.Next() {
		var row, parent, title, guid any
		if err := rows.Scan(&row, &parent, &title, &guid); err != nil {
			return nil, fmt.Errorf("read folders of bookmarks: %w", err)
		}
		one := all[integerValue(row)]
		one.parent, one.title, one.guid = integerValue(parent), boundedText(title, 200), boundedText(guid, 100)
		all[integerValue(row)] = one
	}
	return all, rows.Err()
}

// loadBookmarkTags returns the tags of places. A tag is a folder below the folder of tags, and the tagged places are
// in it.
func (h *historyReader) loadBookmarkTags(ctx context.Context) (map[int64][]string, error) {
	rows, err := h.db.QueryContext(ctx,
		"SELECT t.fk, f.title FROM moz_bookmarks t JOIN moz_bookmarks f ON f.id = t.parent JOIN moz_bookmarks r ON r.id = "+
			"f.parent WHERE r.guid = ? AND t.type = ? ORDER BY t.fk, f.title LIMIT ?",
		tagsFolderGUID, typeBookmark, maxFolders)
	if err != nil {
		return nil, fmt.Errorf("read tags: %w", err)
	}
	defer rows.Close()
	tags := map[int64][]string{}
	for rows.Next() {
		var place, title any
		if err := rows.Scan(&place, &title); err != nil {
			return nil, fmt.Errorf("read tags: %w", err)
		}
		if name := boundedText(title, 200); name != "" {
			tags[integerValue(place)] = append(tags[integerValue(place)], name)
		}
	}
	return tags, rows.Err()
}

// removedBookmarks deletes the bookmarks that Firefox lists as removed. A bookmark that is only absent is kept.
func (h *historyReader) removedBookmarks(ctx context.Context, since int64) error {
	if ok, err := h.hasColumns(ctx, "moz_bookmarks_deleted", "guid", "dateRemoved"); err != nil || !ok {
		return err
	}
	rows, err := h.db.QueryContext(ctx, "SELECT guid FROM moz_bookmarks_deleted WHERE dateRemoved >= ?",
		since-rowSettleTime.Microseconds())
	if err != nil {
		return fmt.Errorf("read removed bookmarks: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var guid any
		if err := rows.Scan(&guid); err != nil {
			return fmt.Errorf("read removed bookmarks: %w", err)
		}
		if name := boundedText(guid, 100); name != "" {
			h.f.Emit("bookmarks", connectorkit.Delete(h.f.ID+"/"+name))
		}
	}
	return rows.Err()
}
