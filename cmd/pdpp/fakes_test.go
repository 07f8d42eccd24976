package main

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	_ "modernc.org/sqlite"
)

// leave ends a fake child. It skips the pause that the race detector makes at
// exit, which an environment without GORACE cannot turn off.
func leave(code int) { syscall.Exit(code) }

// playLock holds a database until its input ends: lockdb FILE READY. The pipe
// READY is opened once the lock is held.
func playLock() {
	db, err := sql.Open("sqlite", os.Args[1])
	if err == nil {
		db.SetMaxOpenConns(1)
		_, err = db.Exec(`PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (x); `)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		leave(1)
	}
	ready, err := os.OpenFile(os.Args[2], os.O_WRONLY, 0)
	if err == nil {
		_ = ready.Close()
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	<-interrupted
	leave(0)
}

// playInbox takes pushes until it is interrupted: inbox READY FILE. Its address is
// written to the pipe READY, and each push to FILE before it is answered. The
// path /full refuses everything.
func playInbox() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte("http://"+listener.Addr().String()), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		leave(1)
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	go func() {
		<-interrupted
		leave(0)
	}()
	_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f, err := os.OpenFile(os.Args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil || r.URL.Path == "/full" {
			w.WriteHeader(http.StatusInsufficientStorage)
			return
		}
		_, _ = fmt.Fprintf(f, "%s signed=%t %s\n", r.URL.Path, r.Header.Get("Pdpp-Signature") != "", body)
		_ = f.Close()
	}))
}

// playStatus runs a program, hands interrupts on, and prints the exit code last.
func playStatus() {
	interrupted := make(chan os.Signal, 4)
	signal.Notify(interrupted, os.Interrupt)
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		leave(1)
	}
	go func() {
		for s := range interrupted {
			_ = cmd.Process.Signal(s)
		}
	}()
	_ = cmd.Wait()
	_, _ = io.WriteString(os.Stdout, fmt.Sprintf("exit code %d\n", cmd.ProcessState.ExitCode()))
	leave(0)
}
