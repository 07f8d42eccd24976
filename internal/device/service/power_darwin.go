package service

import (
	"context"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var charge = regexp.MustCompile(`(\d+)%`)

// ReadPower asks the system for its battery. What the network costs is not known here.
func ReadPower(ctx context.Context) (p Power) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	output, err := exec.CommandContext(ctx, "/usr/bin/pmset", "-g", "batt").Output()
	if err != nil || !strings.Contains(string(output), "Battery Power") {
		return p
	}
	if found := charge.FindSubmatch(output); found != nil {
		p.OnBattery = true
		p.Percent, _ = strconv.Atoi(string(found[1]))
	}
	return p
}
