package spotify

import (
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// operations are the mutations that the control port knows. Each moves the logical clock and
// returns what it touched.
var operations = map[string]func(s *Spotify, n int) []string{
	"save": func(s *Spotify, n int) []string { return times(n, func() string { return s.save().track.id() }) },
	"unsave": func(s *Spotify, n int) []string {
		return each(s, n, s.saved, func(x *saved) bool { return !x.gone }, func(x *saved) string { x.gone = true; return x.track.id() })
	},
	"save_again": func(s *Spotify, n int) []string {
		return each(s, n, s.saved, func(x *saved) bool { return !x.gone }, func(x *saved) string {
			x.gone = true
			s.saved = append(s.saved, &saved{track: x.track, at: s.clock})
			return x.track.id()
		})
	},
	"add_playlists":      func(s *Spotify, n int) []string { return times(n, func() string { return s.addPlaylist(7).id }) },
	"unfollow_playlists": func(s *Spotify, n int) []string { return s.eachPlaylist(n, func(p *playlist) { p.gone = true }) },
	"rename_playlists":   func(s *Spotify, n int) []string { return s.eachPlaylist(n, func(p *playlist) { p.name += " (new)" }) },
	"add_items": func(s *Spotify, n int) []string {
		return s.eachPlaylist(n, func(p *playlist) { p.snapshot++; s.addEntry(p, 0); s.addEntry(p, 1) })
	},
	"remove_items": func(s *Spotify, n int) []string {
		return s.eachPlaylist(n, func(p *playlist) {
			if p.snapshot++; len(p.entries) > 2 {
				p.entries = append(p.entries[:1:1], p.entries[3:]...)
			}
		})
	},
	"play": func(s *Spotify, n int) []string { return times(n, func() string { return s.listen().track.id() }) },
	"rerank": func(s *Spotify, n int) []string {
		return times(n, func() string {
			a := s.nextArtist()
			s.top["short_term"] = append([]artist{a}, s.top["short_term"][1:]...)
			return ""
		})
	},
	"allow":    func(s *Spotify, n int) []string { s.cfg.Rate = n; return nil },     // requests in 30 seconds
	"withhold": func(s *Spotify, n int) []string { s.withheld = n > 1; return nil }, // albums and the like: 2: yes, 1: no
	"stranger": func(s *Spotify, n int) []string { s.stranger = n > 1; return nil }, // 2: yes, 1: no
}

// Mutate runs an operation with N.
func (s *Spotify) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	operate, known := operations[m.Op]
	switch {
	case !known:
		return providersim.Mutated{}, fmt.Errorf("unknown mutation %q", m.Op)
	case m.N < 1 || m.N > 100_000:
		return providersim.Mutated{}, fmt.Errorf("mutation %s: n must be 1 to 100000", m.Op)
	}
	s.tick(90 * time.Second)
	return providersim.Mutated{Op: m.Op, IDs: operate(s, m.N), Now: s.clock}, nil
}

func (s *Spotify) eachPlaylist(n int, change func(*playlist)) []string {
	return each(s, n, s.playlists, func(p *playlist) bool { return !p.gone && p.open() }, func(p *playlist) string { change(p); return p.id })
}

// each changes up to n of the eligible things, chosen at random.
func each[T any](s *Spotify, n int, from []T, eligible func(T) bool, change func(T) string) []string {
	var pool []T
	for _, x := range from {
		if eligible(x) {
			pool = append(pool, x)
		}
	}
	s.choice.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	var ids []string
	for _, x := range pool[:min(n, len(pool))] {
		ids = append(ids, change(x))
	}
	return ids
}

func times(n int, do func() string) []string {
	ids := make([]string, 0, n)
	for range n {
		ids = append(ids, do())
	}
	return ids
}
