package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/dovecot"
)

// measureIMAP collects a large account of a real Dovecot through the shipped programs, against
// Dovecot's own tool reading the same messages, and looks for changes in it again.
func measureIMAP(ctx context.Context, c config, dir string, r *report) error {
	program := os.Getenv(dovecot.Variable)
	if program == "" {
		program = "/usr/sbin/dovecot"
	}
	if _, err := os.Stat(program); err != nil {
		fmt.Println("imap: left out, no Dovecot is installed")
		return nil
	}
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	at, err := os.MkdirTemp("", "srv")
	if err != nil {
		return err
	}
	defer os.RemoveAll(at)
	if err := os.Chmod(at, 0o755); err != nil {
		return err
	}
	server, err := dovecot.Start(program, at, dovecot.Limits{})
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop() }()
	const account = "mara"
	size, err := fillMaildir(filepath.Join(at, "mail", account), c.Messages)
	if err != nil {
		return err
	}
	read := func() (time.Duration, error) {
		begin := time.Now()
		cmd := exec.CommandContext(ctx, "doveadm", "-c", filepath.Join(at, "dovecot.conf"), "fetch", "-u", account, "uid flags hdr body", "mailbox", "INBOX")
		cmd.Stdout = io.Discard
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			return 0, fmt.Errorf("doveadm: %w: %s", err, &said)
		}
		return time.Since(begin), nil
	}
	if _, err := read(); err != nil { // it makes its index
		return err
	}
	bare, err := read()
	if err != nil {
		return err
	}
	home := filepath.Join(dir, "imap-home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	p.env = []string{"PDPP_HOME=" + home, "TMPDIR=" + dir, "IMAP_ADDRESS=" + account, "IMAP_PASSWORD=" + dovecot.Password, "IMAP_SERVER=" + server.Address, "PDPP_IMAP_SECURITY=none"}
	first, rss, said, err := p.timed(ctx, home, "run", "imap", "--json")
	if err != nil {
		return err
	}
	var told struct {
		Streams []struct {
			Stream    string `json:"stream"`
			Collected int    `json:"collected"`
		} `json:"streams"`
	}
	if err := json.Unmarshal(said, &told); err != nil {
		return err
	}
	for _, s := range told.Streams {
		if (s.Stream == "messages" || s.Stream == "bodies") && s.Collected != c.Messages {
			return fmt.Errorf("%d %s of %d were collected", s.Collected, s.Stream, c.Messages)
		}
	}
	again, _, _, err := p.timed(ctx, home, "run", "imap", "--json")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("imap: %d messages, %.0f MB", c.Messages, float64(size)/1e6)
	r.tell(figure{Name: name + ", first run", Value: first.Seconds(), Unit: "s", Note: fmt.Sprintf("doveadm reads the same in %.1f s, %.1f times faster", bare.Seconds(), first.Seconds()/bare.Seconds())})
	r.tell(figure{Name: name + ", largest RSS of the programs", Value: rss, Unit: "MiB", Below: 96})
	r.tell(figure{Name: name + ", second run without changes", Value: again.Seconds(), Unit: "s", Below: 2})
	return nil
}

// fillMaildir writes messages as a mail server would have delivered them, and gives their size.
func fillMaildir(dir string, messages int) (size int64, err error) {
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 { // mail is never read as root
		nobody, err := user.Lookup("nobody")
		if err != nil {
			return 0, err
		}
		uid, _ = strconv.Atoi(nobody.Uid)
		gid, _ = strconv.Atoi(nobody.Gid)
	}
	for _, sub := range []string{"", "cur", "new", "tmp"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, sub), 0o700), os.Chown(filepath.Join(dir, sub), uid, gid)); err != nil {
			return 0, err
		}
	}
	text := strings.Repeat("The tide turns before the harbour wakes, and the boats lie still.\n", 14)
	scan := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0, 1, 254}, 1000))
	at := time.Date(2016, 1, 1, 8, 0, 0, 0, time.UTC)
	for n := range messages {
		at = at.Add(23 * time.Minute)
		head := fmt.Sprintf("From: Jorn Vale <jorn%d@harbour.example>\nTo: Mara Lind <mara@harbour.example>\nSubject: Tide table %d\nMessage-ID: <tide.%d@harbour.example>\nDate: %s\nMIME-Version: 1.0\n", n%50, n, n, at.Format(time.RFC1123Z))
		body := head + "Content-Type: text/plain; charset=utf-8\n\n" + text
		if n%50 == 0 {
			body = head + "Content-Type: multipart/mixed; boundary=edge\n\n--edge\nContent-Type: text/plain\n\n" + text + "\n--edge\nContent-Type: image/png; name=scan.png\nContent-Transfer-Encoding: base64\n\n" + scan + "\n--edge--\n"
		}
		path := filepath.Join(dir, "cur", fmt.Sprintf("%d.M%dP1.bench,S=%d:2,S", at.Unix(), n, len(body)))
		if err := errors.Join(os.WriteFile(path, []byte(body), 0o600), os.Chown(path, uid, gid), os.Chtimes(path, at, at)); err != nil {
			return 0, err
		}
		size += int64(len(body))
	}
	return size, nil
}
