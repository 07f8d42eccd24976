package spotify

import (
	"fmt"
	"time"
)

// generate fills an empty account.
func (s *Spotify) generate() {
	for range s.cfg.Playlists {
		s.addPlaylist(s.cfg.Items)
	}
	for range s.cfg.Saved {
		s.save()
	}
	for _, span := range ranges {
		for range s.cfg.Artists {
			s.top[span] = append(s.top[span], s.nextArtist())
		}
	}
	for range s.cfg.Plays {
		s.listen()
	}
	s.tick(time.Hour)
}

func (s *Spotify) tick(d time.Duration) { s.clock = s.clock.Add(d) }

func (s *Spotify) next() int {
	s.lastID++
	return s.lastID
}

// addPlaylist makes one: most are the person's own, every fourth somebody else's, and half of those
// are worked on together.
func (s *Spotify) addPlaylist(entries int) *playlist {
	n := len(s.playlists)
	p := &playlist{id: fmt.Sprintf("7lst%018d", s.next()), name: fmt.Sprintf("%s %d", word(n), n), owner: ownID, public: n%2 == 0, description: "for " + word(n+3)}
	if n%4 == 3 {
		p.owner, p.collaborative = friends[n%2], n%8 == 3
	}
	for i := range entries {
		s.addEntry(p, i)
	}
	s.playlists = append(s.playlists, p)
	return p
}

func (s *Spotify) addEntry(p *playlist, i int) {
	s.tick(time.Minute)
	p.entries = append(p.entries, entry{track: track(s.next()), removed: i%11 == 5, local: i%13 == 7, added: s.clock})
}

func (s *Spotify) save() *saved {
	s.tick(3 * time.Minute)
	x := &saved{track: track(s.next()), at: s.clock}
	s.saved = append(s.saved, x)
	return x
}

func (s *Spotify) listen() play {
	s.tick(4*time.Minute + 137*time.Millisecond)
	n := s.next()
	p := play{track: track(n), at: s.clock, context: []string{"", "playlist", "album"}[n%3]}
	s.plays = append(s.plays, p)
	return p
}

func (s *Spotify) nextArtist() artist {
	n := s.next()
	return artist{number: n, genres: n % 4}
}
