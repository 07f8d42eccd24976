package realserver

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// MailFolder is a folder of an account as the files of a mail server have it.
type MailFolder struct {
	Name     string // as commands name it
	Messages []MailMessage
}

// MailMessage is a message of it.
type MailMessage struct {
	Validity uint32
	UID      uint32
	Flags    []string // as IMAP has them
	Received time.Time
	Content  []byte // with the ends of lines that IMAP has
}

// SpeakIMAP signs an account in and sends commands, each of which must succeed.
func SpeakIMAP(address, account, password string, commands ...string) error {
	conn, err := SignInIMAP(address, account, password)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, command := range commands {
		if err := conn.runCommand(command); err != nil {
			return err
		}
	}
	return nil
}

// IMAPConnection is a connection with a signed-in account.
type IMAPConnection struct {
	net.Conn
	in  *bufio.Reader
	tag int
}

// SignInIMAP signs an account in. A server counts a connection for a moment longer than it is there, and
// refuses the next one meanwhile: so a refusal is tried again for a while.
func SignInIMAP(address, account, password string) (*IMAPConnection, error) {
	for until := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		conn, err := connectIMAP(address)
		if err != nil {
			return nil, err
		}
		err = conn.runCommand(fmt.Sprintf("LOGIN %q %q", account, password))
		if err == nil {
			return conn, nil
		}
		if _ = conn.Close(); time.Now().After(until) {
			return nil, err
		}
	}
}

func connectIMAP(address string) (*IMAPConnection, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &IMAPConnection{Conn: conn, in: bufio.NewReader(conn)}
	err = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	if err == nil {
		_, err = c.in.ReadString('\n')
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

// SpeakPlainIMAP is SpeakIMAP for servers without extensions: messages are appended one by one, and moved by a copy.
func SpeakPlainIMAP(address, account, password string, commands ...string) error {
	conn, err := SignInIMAP(address, account, password)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, command := range commands {
		if what, moves := strings.CutPrefix(command, "MOVE "); moves {
			set, to, _ := strings.Cut(what, " ")
			for _, part := range []string{"COPY " + set + " " + to, "STORE " + set + ` +FLAGS.SILENT (\Deleted)`, "EXPUNGE"} {
				if err := conn.runCommand(part); err != nil {
					return err
				}
			}
			continue
		}
		if !strings.HasPrefix(command, "APPEND ") {
			if err := conn.runCommand(command); err != nil {
				return err
			}
			continue
		}
		if err := conn.appendEach(command); err != nil {
			return err
		}
	}
	return nil
}

// appendEach sends the messages of an APPEND in commands of their own. It waits before it sends a message.
func (c *IMAPConnection) appendEach(command string) error {
	folder, rest, _ := strings.Cut(strings.TrimPrefix(command, `APPEND "`), `" `)
	for rest != "" {
		options, after, ok := strings.Cut(rest, "+}\r\n")
		options, size, sized := strings.Cut(options, "{")
		n, err := strconv.Atoi(size)
		if !ok || !sized || err != nil || n > len(after) {
			return fmt.Errorf("%.60q is not of a message", rest)
		}
		c.tag++
		tag := fmt.Sprintf("t%d ", c.tag)
		if _, err := fmt.Fprintf(c, "%sAPPEND %q %s{%d}\r\n", tag, folder, options, n); err != nil {
			return err
		}
		line, err := c.in.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "+") {
			return fmt.Errorf("append: %w: %s", err, strings.TrimSpace(line))
		}
		if _, err := fmt.Fprintf(c, "%s\r\n", after[:n]); err != nil {
			return err
		}
		if err := c.readConclusion(tag, "APPEND"); err != nil {
			return err
		}
		rest = strings.TrimPrefix(after[n:], " ")
	}
	return nil
}

// runCommand must succeed.
func (c *IMAPConnection) runCommand(command string) error {
	c.tag++
	tag := fmt.Sprintf("t%d ", c.tag)
	if _, err := fmt.Fprintf(c, "%s%s\r\n", tag, command); err != nil {
		return err
	}
	return c.readConclusion(tag, command)
}

// readConclusion reads up to the end of a command, which must be a success.
func (c *IMAPConnection) readConclusion(tag, command string) error {
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.HasPrefix(line, tag+"OK") {
			return nil
		}
		if strings.HasPrefix(line, tag) {
			return fmt.Errorf("%.60q: %s", command, strings.TrimSpace(line))
		}
	}
}

// AppendCommand is the command that puts a message into a folder.
func AppendCommand(folder, flags string, at time.Time, content []byte) string {
	return fmt.Sprintf("APPEND %q (%s) %q {%d+}\r\n%s", folder, flags, at.Format("02-Jan-2006 15:04:05 -0700"),
		len(content), content)
}
