package spotify

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// The wire types name what is read of Spotify's answers, the record types what the manifest's schemas
// describe. A pointer is a member that may be null or absent; it is then absent from the record.

type wireNamed struct {
	ID   *string `json:"id"`
	Name string  `json:"name"`
}

type wireAlbum struct {
	wireNamed
	Type     string `json:"album_type"`
	Released string `json:"release_date"`
}

// trackDetails are the members of a track that every stream of tracks has.
type trackDetails struct {
	ArtistIDs []string `json:"artist_ids,omitempty"`
	AlbumID   string   `json:"album_id,omitzero"`
	AlbumType string   `json:"album_type,omitzero"`
	Released  string   `json:"album_release_date,omitzero"`
	Explicit  *bool    `json:"explicit,omitzero"`
	Disc      *int64   `json:"disc_number,omitzero"`
	Number    *int64   `json:"track_number,omitzero"`
}

func (t *wireTrack) details() trackDetails {
	d := trackDetails{Explicit: t.Explicit, Disc: t.Disc, Number: t.Number}
	for _, a := range t.Artists {
		if id := deref(a.ID); id != "" {
			d.ArtistIDs = append(d.ArtistIDs, id)
		}
	}
	if t.Album != nil {
		d.AlbumID, d.AlbumType, d.Released = deref(t.Album.ID), t.Album.Type, t.Album.Released
	}
	return d
}

type wireOwner struct {
	ID   string  `json:"id"`
	Name *string `json:"display_name"`
}

type wireTotal struct {
	Total *int64 `json:"total"`
}

type wirePlaylist struct {
	ID            string     `json:"id"`
	Name          string     `json:"name"`
	Owner         *wireOwner `json:"owner"`
	Public        *bool      `json:"public"`
	Collaborative *bool      `json:"collaborative"`
	Snapshot      *string    `json:"snapshot_id"`
	Description   *string    `json:"description"`
	Items         *wireTotal `json:"items"`
	Tracks        *wireTotal `json:"tracks"` // as items was called until 2026
}

type playlistRecord struct {
	ID            string  `json:"id"`
	Name          string  `json:"name"`
	OwnerID       string  `json:"owner_id,omitzero"`
	OwnerName     *string `json:"owner_name,omitzero"`
	Public        *bool   `json:"public,omitzero"`
	Collaborative *bool   `json:"collaborative,omitzero"`
	TrackCount    *int64  `json:"track_count,omitzero"`
	Snapshot      *string `json:"snapshot_id,omitzero"`
	Description   *string `json:"description,omitzero"`
}

func readPlaylist(raw jsontext.Value) connectorkit.ListItem {
	var p wirePlaylist
	if err := json.Unmarshal(raw, &p); err != nil || p.ID == "" {
		return connectorkit.ListItem{Record: unreadable(raw, err)}
	}
	r := playlistRecord{ID: p.ID, Name: p.Name, Public: p.Public, Collaborative: p.Collaborative, Snapshot: p.Snapshot, Description: p.Description}
	if p.Owner != nil {
		r.OwnerID, r.OwnerName = p.Owner.ID, p.Owner.Name
	}
	switch {
	case p.Items != nil:
		r.TrackCount = p.Items.Total
	case p.Tracks != nil:
		r.TrackCount = p.Tracks.Total
	}
	return connectorkit.ListItem{Key: p.ID, Record: connectorkit.Upsert(r)}
}

type wireTrack struct {
	ID         *string     `json:"id"`
	URI        *string     `json:"uri"`
	Name       *string     `json:"name"`
	Artists    []wireNamed `json:"artists"`
	Album      *wireAlbum  `json:"album"`
	Type       string      `json:"type"`
	Explicit   *bool       `json:"explicit"`
	Disc       *int64      `json:"disc_number"`
	Number     *int64      `json:"track_number"`
	DurationMS *int64      `json:"duration_ms"`
	IDs        *struct {
		ISRC *string `json:"isrc"`
	} `json:"external_ids"`
}

// key names a track: a file of the owner's own has an address alone.
func (t *wireTrack) key() string {
	if id := deref(t.ID); id != "" {
		return id
	}
	return deref(t.URI)
}

func (t *wireTrack) artists() []string {
	names := []string{}
	for _, a := range t.Artists {
		if a.Name != "" {
			names = append(names, a.Name)
		}
	}
	return names
}

func (t *wireTrack) album() string {
	if t.Album == nil {
		return ""
	}
	return t.Album.Name
}

func (t *wireTrack) isrc() *string {
	if t.IDs == nil {
		return nil
	}
	return t.IDs.ISRC
}

type savedRecord struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Artists    []string `json:"artist_names"`
	Album      string   `json:"album_name,omitzero"`
	DurationMS *int64   `json:"duration_ms,omitzero"`
	AddedAt    *string  `json:"added_at,omitzero"`
	ISRC       *string  `json:"isrc,omitzero"`
	trackDetails
}

func readSaved(raw jsontext.Value) connectorkit.ListItem {
	var s struct {
		AddedAt *string    `json:"added_at"`
		Track   *wireTrack `json:"track"`
	}
	if err := json.Unmarshal(raw, &s); err != nil || s.Track == nil || s.Track.key() == "" {
		return connectorkit.ListItem{Record: unreadable(raw, err)}
	}
	t := s.Track
	return connectorkit.ListItem{Key: t.key(), Record: connectorkit.Upsert(savedRecord{
		ID: t.key(), Name: deref(t.Name), Artists: t.artists(), Album: t.album(), DurationMS: t.DurationMS,
		AddedAt: s.AddedAt, ISRC: t.isrc(), trackDetails: t.details(),
	})}
}

type itemRecord struct {
	ID         string   `json:"id"`
	PlaylistID string   `json:"playlist_id"`
	Position   int      `json:"position"`
	AddedAt    *string  `json:"added_at,omitzero"`
	AddedBy    string   `json:"added_by_id,omitzero"`
	TrackID    string   `json:"track_id,omitzero"`
	URI        *string  `json:"track_uri,omitzero"`
	Name       *string  `json:"track_name,omitzero"`
	Artists    []string `json:"artist_names"`
	Album      string   `json:"album_name,omitzero"`
	DurationMS *int64   `json:"duration_ms,omitzero"`
	Local      *bool    `json:"is_local,omitzero"`
	Type       string   `json:"type,omitzero"` // track or episode
	trackDetails
}

// readItem reads the entry at a place. One whose track was removed at Spotify keeps its place and when
// it was added.
func readItem(raw jsontext.Value, list string, place int) connectorkit.Record {
	var e struct {
		AddedAt *string    `json:"added_at"`
		AddedBy *wireOwner `json:"added_by"`
		Local   *bool      `json:"is_local"`
		Item    *wireTrack `json:"item"`
		Track   *wireTrack `json:"track"` // as item was called until 2026
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return connectorkit.Unreadable(itemKey(list, place), err)
	}
	r := itemRecord{ID: itemKey(list, place), PlaylistID: list, Position: place, AddedAt: e.AddedAt, Local: e.Local, Artists: []string{}}
	if e.AddedBy != nil {
		r.AddedBy = e.AddedBy.ID
	}
	t := e.Item
	if t == nil {
		t = e.Track
	}
	if t != nil {
		r.TrackID, r.URI, r.Name, r.Artists, r.Album, r.DurationMS = deref(t.ID), t.URI, t.Name, t.artists(), t.album(), t.DurationMS
		r.Type, r.trackDetails = t.Type, t.details()
	}
	return connectorkit.Upsert(r)
}

type artistRecord struct {
	ID     string   `json:"id"`
	Span   string   `json:"time_range"`
	Name   string   `json:"name"`
	Genres []string `json:"genres"`
}

func readArtist(raw jsontext.Value, span string) connectorkit.ListItem {
	var a struct {
		ID     string   `json:"id"`
		Name   string   `json:"name"`
		Genres []string `json:"genres"`
	}
	if err := json.Unmarshal(raw, &a); err != nil || a.ID == "" {
		return connectorkit.ListItem{Record: unreadable(raw, err)}
	}
	if a.Genres == nil {
		a.Genres = []string{}
	}
	return connectorkit.ListItem{Key: topKey(a.ID, span),
		Record: connectorkit.Upsert(artistRecord{a.ID, span, a.Name, a.Genres})}
}

type topTrackRecord struct {
	ID         string   `json:"id"`
	Span       string   `json:"time_range"`
	Name       string   `json:"name"`
	Artists    []string `json:"artist_names"`
	Album      string   `json:"album_name,omitzero"`
	DurationMS *int64   `json:"duration_ms,omitzero"`
	trackDetails
}

func readTopTrack(raw jsontext.Value, span string) connectorkit.ListItem {
	var t wireTrack
	if err := json.Unmarshal(raw, &t); err != nil || deref(t.ID) == "" {
		return connectorkit.ListItem{Record: unreadable(raw, err)}
	}
	return connectorkit.ListItem{Key: topKey(*t.ID, span), Record: connectorkit.Upsert(topTrackRecord{
		ID: *t.ID, Span: span, Name: deref(t.Name), Artists: t.artists(), Album: t.album(), DurationMS: t.DurationMS,
		trackDetails: t.details(),
	})}
}

type wirePlay struct {
	Track    *wireTrack `json:"track"`
	PlayedAt string     `json:"played_at"`
	Context  *struct {
		Type *string `json:"type"`
		URI  *string `json:"uri"`
	} `json:"context"`
}

type playRecord struct {
	ID          string   `json:"id"`
	TrackID     string   `json:"track_id"`
	Name        *string  `json:"track_name,omitzero"`
	Artists     []string `json:"artist_names"`
	Album       string   `json:"album_name,omitzero"`
	PlayedAt    string   `json:"played_at"`
	ContextType *string  `json:"context_type,omitzero"`
	ContextURI  *string  `json:"context_uri,omitzero"`
	DurationMS  *int64   `json:"duration_ms,omitzero"`
	trackDetails
}

func (p *wirePlay) record() playRecord {
	t := p.Track
	r := playRecord{ID: p.PlayedAt + ":" + t.key(), TrackID: t.key(), Name: t.Name, Artists: t.artists(), Album: t.album(),
		PlayedAt: p.PlayedAt, DurationMS: t.DurationMS, trackDetails: t.details()}
	if p.Context != nil {
		r.ContextType, r.ContextURI = p.Context.Type, p.Context.URI
	}
	return r
}

// unreadable declares a thing that could not be decoded, by its id where that can be read.
func unreadable(raw jsontext.Value, err error) connectorkit.Record {
	var named struct {
		ID    any `json:"id"`
		Track struct {
			ID any `json:"id"`
		} `json:"track"`
	}
	_ = json.Unmarshal(raw, &named) // what can be read of it
	for _, id := range []any{named.ID, named.Track.ID} {
		if id != nil {
			return connectorkit.Unreadable(fmt.Sprint(id), err)
		}
	}
	return connectorkit.Unreadable("", err)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
