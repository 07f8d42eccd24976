package service

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ReadPower reads the battery state from the kernel and the network state from NetworkManager.
func ReadPower(ctx context.Context) Power {
	p := batteries("/sys/class/power_supply")
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	const name = "org.freedesktop.NetworkManager"
	content, err := exec.CommandContext(ctx, "busctl", "get-property", name, "/org/freedesktop/NetworkManager", name,
		"Metered").Output()
	p.Metered = err == nil && metered(string(content))
	return p
}

// metered understands "u 1" (yes) and "u 3" (probably).
func metered(message string) bool {
	message = strings.TrimSpace(message)
	return message == "u 1" || message == "u 3"
}

// batteries is on battery when one is being used up.
func batteries(folder string) (p Power) {
	all, _ := filepath.Glob(filepath.Join(folder, "*", "capacity"))
	for _, file := range all {
		read := func(name string) string {
			body, _ := os.ReadFile(filepath.Join(filepath.Dir(file), name))
			return strings.TrimSpace(string(body))
		}
		if read("type") != "Battery" || read("scope") == "Device" || read("status") != "Discharging" {
			continue
		}
		if charge, err := strconv.Atoi(read("capacity")); err == nil && (!p.OnBattery || charge > p.Percent) {
			p.OnBattery, p.Percent = true, charge
		}
	}
	return p
}
