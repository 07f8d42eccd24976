package spotify

import (
	"cmp"
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// libraryRecord is an album, a show, an episode or an audiobook that the person saved.
type libraryRecord struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Creators []string `json:"creator_names"`
	AddedAt  *string  `json:"added_at,omitzero"`
	URI      *string  `json:"uri,omitzero"`
	Type     string   `json:"album_type,omitzero"`
	Released string   `json:"release_date,omitzero"`
	Total    *int64   `json:"part_count,omitzero"`
	Show     string   `json:"show_name,omitzero"`
	ShowID   string   `json:"show_id,omitzero"`
	Duration *int64   `json:"duration_ms,omitzero"`
	About    string   `json:"description,omitzero"`
	Explicit *bool    `json:"explicit,omitzero"`
}

// readLibrary returns the reader of a kind of saved things. Spotify wraps them with the moment of saving; audiobooks
// came without it for a time.
func readLibrary(kind string) func(jsontext.Value) connectorkit.ListItem {
	return func(raw jsontext.Value) connectorkit.ListItem {
		var row map[string]jsontext.Value
		if err := json.Unmarshal(raw, &row); err != nil {
			return connectorkit.ListItem{Record: unreadable(raw, err)}
		}
		body := raw
		if wrapped := row[kind]; wrapped.Kind() == '{' {
			body = wrapped
		}
		var w struct {
			ID        string      `json:"id"`
			Name      string      `json:"name"`
			URI       *string     `json:"uri"`
			Type      string      `json:"album_type"`
			Released  string      `json:"release_date"`
			Artists   []wireNamed `json:"artists"`
			Authors   []wireNamed `json:"authors"`
			Publisher string      `json:"publisher"`
			Tracks    *int64      `json:"total_tracks"`
			Episodes  *int64      `json:"total_episodes"`
			Chapters  *int64      `json:"total_chapters"`
			Show      *wireNamed  `json:"show"`
			Duration  *int64      `json:"duration_ms"`
			About     string      `json:"description"`
			Explicit  *bool       `json:"explicit"`
		}
		if err := json.Unmarshal(body, &w); err != nil || w.ID == "" {
			return connectorkit.ListItem{Record: unreadable(body, err)}
		}
		r := libraryRecord{
			ID: w.ID, Name: w.Name, Creators: []string{}, URI: w.URI, Type: w.Type, Released: w.Released,
			Total:    cmp.Or(w.Tracks, w.Episodes, w.Chapters),
			Duration: w.Duration, About: w.About, Explicit: w.Explicit,
		}
		for _, a := range append(w.Artists, w.Authors...) {
			r.Creators = append(r.Creators, a.Name)
		}
		if w.Publisher != "" && len(r.Creators) == 0 {
			r.Creators = append(r.Creators, w.Publisher)
		}
		if w.Show != nil {
			r.Show, r.ShowID = w.Show.Name, deref(w.Show.ID)
		}
		var added string
		if json.Unmarshal(row["added_at"], &added) == nil && added != "" {
			r.AddedAt = &added
		}
		return connectorkit.ListItem{Key: r.ID, Record: connectorkit.Upsert(r)}
	}
}

// library returns the collector of a kind of saved things. Where Spotify does not offer it to the app, it is declared
// as missing, and nothing of it is deleted.
func (a *api) library(stream, path, kind string) connectorkit.Collector {
	return connectorkit.FullList{Stream: stream, Remembered: remembered,
		Page: offered(stream, list{a, path, readLibrary(kind)}.page)}
}

// offered declares a list that Spotify refuses instead of failing its stream. A missing sign-in or scope still fails
// it.
func offered(what string, read func(context.Context, connectorkit.PageRequest) (connectorkit.InventoryPage,
	error)) func(context.Context, connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	return func(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
		page, err := read(ctx, v)
		var e *connectorkit.Error
		if errors.As(err, &e) && (e.Class == connectorkit.NotFound || e.Class == connectorkit.Forbidden &&
			e.OwnerMessage == "") {
			return connectorkit.InventoryPage{Hidden: []connectorkit.Record{connectorkit.Unreadable(what, nil)}}, nil
		}
		return page, err
	}
}
