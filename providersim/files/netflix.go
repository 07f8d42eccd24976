package files

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"time"
)

// Netflix makes a folder with exports of a Netflix account.
func Netflix(dir string, c Config) (World, error) { return newImports(dir, c, &netflixAccount{}) }

type netflixAccount struct {
	watched []viewingRow
	full    bool
	form    int
}

type viewingRow struct {
	title, device string
	at            time.Time
	seconds       int
}

func (*netflixAccount) exportName(*Tree) string { return "netflix-report" }

func (n *netflixAccount) growAccount(t *Tree) {
	for range 1 + t.rng.IntN(3) {
		t.clock = t.clock.Add(time.Duration(1+t.rng.IntN(40)) * time.Hour)
		n.watched = append(n.watched,
			viewingRow{fmt.Sprintf("The %s: Season %d: \"%s\"", sampleWords[t.rng.IntN(len(sampleWords))], 1+t.rng.IntN(4),
				sampleWords[t.rng.IntN(len(sampleWords))]), "Lounge TV", t.clock.Truncate(time.Second), t.rng.IntN(9000)})
	}
}

// DayForms are how the short export writes a day, by the country of the account.
var DayForms = []string{"1/2/06", "02/01/2006", "2.1.06", "2006-01-02", "2006. 1. 2."}

// exportMembers alternates between the full export and the list of a profile, in each country's form.
func (n *netflixAccount) exportMembers(*Tree) []Member {
	if n.full = !n.full; n.full {
		return n.fullReport()
	}
	n.form++
	return []Member{n.profileHistory("NetflixViewingHistory.csv", DayForms[n.form%len(DayForms)])}
}

func (n *netflixAccount) fullReport() []Member {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	m := Member{Name: "CONTENT_INTERACTION/ViewingActivity.csv"}
	// into memory
	_ = w.Write([]string{"Profile Name", "Start Time", "Duration", "Attributes", "Title", "Supplemental Video Type",
		"Device Type", "Bookmark", "Latest Bookmark", "Country"})
	for _, v := range n.watched {
		at := v.at.Format("2006-01-02 15:04:05")
		// into memory
		_ = w.Write([]string{"Mara", at, fmt.Sprintf("%02d:%02d:%02d", v.seconds/3600, v.seconds/60%60, v.seconds%60), "",
			v.title, "", v.device, "", "", "SE (Sweden)"})
		m.Items = append(m.Items, Item{Stream: "viewing_activity", Fields: map[string]any{
			"title": v.title, "watched_at": v.at.Format(time.RFC3339), "watched_at_precision": "instant",
			"device_type": v.device, "profile_name": "Mara",
			"country": "SE (Sweden)", "duration_seconds": float64(v.seconds), "source_schema": "full_export",
		}})
	}
	w.Flush()
	m.Content = b.Bytes()
	return []Member{m, {Name: "PROFILES/Profiles.csv", Content: []byte("Profile Name\nMara\n")},
		{Name: "CONTENT_INTERACTION/Ratings.csv", Content: []byte("Profile Name,Title Name\nMara,x\n")}}
}

// profileHistory is the list of a profile, newest first. One day in it reveals the order of day and month.
func (n *netflixAccount) profileHistory(name, form string) Member {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	m := Member{Name: name}
	_ = w.Write([]string{"Title", "Date"}) // into memory
	add := func(title string, at time.Time) {
		_ = w.Write([]string{title, at.Format(form)}) // into memory
		m.Items = append(m.Items, Item{Stream: "viewing_activity", Fields: map[string]any{
			"title": title, "watched_at": at.Truncate(24 * time.Hour).Format(time.RFC3339), "watched_at_precision": "day",
			"source_schema": "direct_history",
		}})
	}
	for i := len(n.watched) - 1; i >= 0; i-- {
		add(n.watched[i].title, n.watched[i].at)
	}
	add("The first one", time.Date(2026, 2, 23, 0, 0, 0, 0, time.UTC))
	w.Flush()
	m.Content = b.Bytes()
	return m
}

func (n *netflixAccount) hostileMembers(*Tree) []Member {
	return []Member{{
		Name:    "NetflixViewingHistory.csv",
		Content: []byte("\xef\xbb\xbfTitle,Date\r\n\"Kept, too\",2/23/26\r\nNo day,\r\nImpossible,2/31/26\r\nNo comma\r\n"),
		Items: []Item{{Stream: "viewing_activity",
			Fields: map[string]any{"title": "Kept, too", "watched_at": "2026-02-23T00:00:00Z"}}},
	}}
}
