package spotify_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/spotify"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t,
		target(t, spotify.Config{Seed: 5, Playlists: 6, Items: 9, Saved: 14, Plays: 12, Artists: 4,
			MaxPage: 5}))
}

func TestDriftTotals(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftTotals(t,
		target(t, spotify.Config{Seed: 5, Playlists: 6, Items: 9, Saved: 14, Plays: 12, Artists: 4, MaxPage: 5}),
		"saved_tracks")
}

func TestDriftMembers(t *testing.T) {
	t.Parallel()
	connectortest.DriftMembers(t,
		target(t, spotify.Config{Seed: 5, Playlists: 6, Items: 9, Saved: 14, Plays: 12, Artists: 4, MaxPage: 5}),
		providersim.Drifted{
			Route: "v1/me/albums", Remove: []string{"items/[]/album/album_type"},
			Retype: []string{"items/[]/album/total_tracks"},
		})
}

func TestDriftNumbers(t *testing.T) {
	t.Parallel()
	connectortest.DriftNumbers(t, target(t, spotify.Config{Seed: 5, Playlists: 6, Items: 9, MaxPage: 5}), "playlist_items",
		"v1/playlists/*/items", "total")
}
