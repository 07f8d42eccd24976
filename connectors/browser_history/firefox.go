package browserhistory

import (
	"context"
	"fmt"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// bookmark is a place that somebody kept.
type bookmark struct {
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
	"other", "link", "typed", "bookmark", "embed", "redirect_permanent", "redirect_temporary", "download", "framed_link", "reload",
}

func readFirefox(ctx context.Context, h *history) error {
	if ok, err := h.has(ctx, "moz_historyvisits", "id", "place_id", "visit_date"); err != nil || !ok {
		return either(err, formError("moz_historyvisits"))
	}
	if ok, err := h.has(ctx, "moz_places", "id", "url"); err != nil || !ok {
		return either(err, formError("moz_places"))
	}
	if err := h.firefoxVisits(ctx); err != nil {
		return err
	}
	if ok, err := h.has(ctx, "moz_bookmarks", "id", "type", "fk", "parent", "title", "guid", "dateAdded", "lastModified"); err != nil || !ok {
		return err
	}
	return h.firefoxBookmarks(ctx)
}

func (h *history) firefoxVisits(ctx context.Context) error {
	own, err := h.list(ctx, "moz_historyvisits", "t", "from_visit", "visit_type")
	if err != nil {
		return err
	}
	title, err := h.column(ctx, "moz_places", "p", "title", "NULL")
	if err != nil {
		return err
	}
	return h.rows(ctx, table{
		name: "moz_historyvisits", epoch: since1970, far: month, at: "t.visit_date", window: "t.visit_date >= ?2",
		fields: append([]string{"p.url", title}, own...), joined: "LEFT JOIN moz_places p ON p.id = t.place_id",
		take: func(row []any) {
			url, host := address(row[2])
			v := visit{
				ID: h.id(row[0], row[1]), Browser: h.browser, Profile: h.profile, URL: url, Host: host, Title: text(row[3], maxTitle), Timestamp: since1970.time(row[1]),
				From: known(row[4]), Transition: nameOf(visitTypes, row[5], -1),
			}
			h.emit("visits", host, len(url)+len(v.Title), &v)
		},
	})
}

const (
	typeBookmark = 1
	typeFolder   = 2
	tagsGUID     = "tags________"
	maxFolders   = 20_000
	maxNesting   = 32
)

// folders are the folders of bookmarks, by row.
type folders map[int64]struct {
	parent      int64
	title, guid string
}

func (f folders) path(row int64) (path string, tag bool) {
	for range maxNesting {
		one, ok := f[row]
		if !ok || one.guid == tagsGUID || row == one.parent {
			return path, one.guid == tagsGUID
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

func (h *history) firefoxBookmarks(ctx context.Context) error {
	all, err := h.folders(ctx)
	if err != nil {
		return err
	}
	tags, err := h.tags(ctx)
	if err != nil {
		return err
	}
	since := int64(0)
	if m := h.marks["moz_bookmarks"]; m != nil {
		since = m.Recent
	}
	err = h.rows(ctx, table{
		name: "moz_bookmarks", epoch: since1970, at: "t.dateAdded", window: "t.dateAdded >= ?2 OR t.lastModified >= ?2",
		fields: []string{"p.url", "t.title", "t.type", "t.parent", "t.guid", "t.lastModified", "t.fk"}, joined: "LEFT JOIN moz_places p ON p.id = t.fk",
		beside: func(row []any) []string {
			folder, _ := all.path(integer(row[5]))
			return append([]string{folder}, tags[integer(row[8])]...)
		},
		take: func(row []any) {
			folder, tag := all.path(integer(row[5]))
			if guid := text(row[6], 100); integer(row[4]) == typeBookmark && !tag && guid != "" {
				url, host := address(row[2])
				h.emit("bookmarks", host, len(url), &bookmark{
					ID: h.f.ID + "/" + guid, Browser: h.browser, Profile: h.profile, URL: url, Host: host, Title: text(row[3], maxTitle), Folder: folder,
					Tags: tags[integer(row[8])], AddedAt: since1970.time(row[1]), ModifiedAt: since1970.time(row[7]),
				})
			}
		},
	})
	if err != nil {
		return err
	}
	return h.removedBookmarks(ctx, since) // without a bookmark of ours too: what it stored is not known
}

func (h *history) folders(ctx context.Context) (folders, error) {
	rows, err := h.db.QueryContext(ctx, "SELECT rowid, parent, title, guid FROM moz_bookmarks WHERE type = ? LIMIT ?", typeFolder, maxFolders)
	if err != nil {
		return nil, fmt.Errorf("read folders of bookmarks: %w", err)
	}
	defer rows.Close()
	all := folders{}
	for rows.Next() {
		var row, parent, title, guid any
		if err := rows.Scan(&row, &parent, &title, &guid); err != nil {
			return nil, fmt.Errorf("read folders of bookmarks: %w", err)
		}
		one := all[integer(row)]
		one.parent, one.title, one.guid = integer(parent), text(title, 200), text(guid, 100)
		all[integer(row)] = one
	}
	return all, rows.Err()
}

// tags are those of places: a tag is a folder below that of the tags, and what is tagged lies in it.
func (h *history) tags(ctx context.Context) (map[int64][]string, error) {
	rows, err := h.db.QueryContext(ctx, "SELECT t.fk, f.title FROM moz_bookmarks t JOIN moz_bookmarks f ON f.id = t.parent JOIN moz_bookmarks r ON r.id = f.parent WHERE r.guid = ? AND t.type = ? ORDER BY t.fk, f.title LIMIT ?",
		tagsGUID, typeBookmark, maxFolders)
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
		if name := text(title, 200); name != "" {
			tags[integer(place)] = append(tags[integer(place)], name)
		}
	}
	return tags, rows.Err()
}

// removedBookmarks deletes what Firefox itself says was removed. A bookmark that is merely not
// there any more is kept.
func (h *history) removedBookmarks(ctx context.Context, since int64) error {
	if ok, err := h.has(ctx, "moz_bookmarks_deleted", "guid", "dateRemoved"); err != nil || !ok {
		return err
	}
	rows, err := h.db.QueryContext(ctx, "SELECT guid FROM moz_bookmarks_deleted WHERE dateRemoved >= ?", since-recent.Microseconds())
	if err != nil {
		return fmt.Errorf("read removed bookmarks: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var guid any
		if err := rows.Scan(&guid); err != nil {
			return fmt.Errorf("read removed bookmarks: %w", err)
		}
		if name := text(guid, 100); name != "" {
			h.f.Emit("bookmarks", connectorkit.Delete(h.f.ID+"/"+name))
		}
	}
	return rows.Err()
}
