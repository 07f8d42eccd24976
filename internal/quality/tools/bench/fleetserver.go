package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// restFleet runs a whole server over the large fleet while nothing is due, and
// scrapes it once: the only thing that looks at every connection.
func (r *report) restFleet(ctx context.Context, p programs, home string) (err error) {
	if err := putOff(ctx, filepath.Join(home, "pdpp.db")); err != nil {
		return err
	}
	s, err := p.idleServer(ctx, home)
	if err != nil {
		return err
	}
	defer func() {
		_, stopErr := s.stop()
		err = errors.Join(err, stopErr)
	}()
	const name = "server over 100000 connections, none due: "
	cpu, rss, err := s.rest(ctx, 5*time.Second)
	if err != nil {
		return err
	}
	r.tell(figure{Name: name + "RSS", Value: rss, Unit: "MiB", Below: 64})
	r.tell(figure{Name: name + "CPU", Value: cpu, Unit: "% of a core", Below: 1})
	token, err := ownerToken(ctx, filepath.Join(home, "pdpp.db"))
	if err != nil {
		return err
	}
	begin := time.Now()
	body, err := fetch(ctx, s.url+"/metrics", token)
	if err != nil {
		return err
	}
	took := time.Since(begin)
	if rss, err = s.rss(); err != nil {
		return err
	}
	note := fmt.Sprintf("RSS then %.1f MiB", rss)
	if !strings.Contains(body, "\npdpp_connections{") {
		note += "; the verdicts were given up on"
	}
	r.tell(figure{Name: name + "one scrape", Value: took.Seconds(), Unit: "s", Below: 10, Note: note})
	return nil
}

// putOff leaves nothing due for years.
func putOff(ctx context.Context, database string) error {
	opened, err := openStore(ctx, database)
	if err != nil {
		return err
	}
	defer opened.Close()
	w := opened.(storetest.Writable).Writer()
	if _, err := w.ExecContext(ctx, `DELETE FROM river_job`); err != nil {
		return err
	}
	_, err = w.ExecContext(ctx, `UPDATE connections SET look_at = '`+time.Now().AddDate(50, 0,
		0).UTC().Format(sqlstore.TimeLayout)+`'`)
	return err
}

// ownerToken makes one, as the owner's command does.
func ownerToken(ctx context.Context, database string) (string, error) {
	opened, err := openStore(ctx, database)
	if err != nil {
		return "", err
	}
	defer opened.Close()
	_, token, err := auth.New(auth.Config{Store: opened}).CreateToken(ctx, auth.NewToken{Label: "bench"})
	return token, err
}

func fetch(ctx context.Context, url, token string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answered %s", url, resp.Status)
	}
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
