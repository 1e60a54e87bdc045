package server

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// littleMemory is the available memory, in bytes, below which programs that read documents may
// be killed by the kernel.
const littleMemory = 512 << 20

// checkMemory reports the memory that this machine has left, as the kernel estimates it. It
// reports nothing on a system that does not tell.
func checkMemory() []Finding {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return nil
	}
	found := map[string]int64{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		if kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64); err == nil {
			found[name] = kilobytes << 10
		}
	}
	left, all := found["MemAvailable"], found["MemTotal"]
	if all == 0 {
		return nil
	}
	detail := fmt.Sprintf("%.1f of %.1f GB are available", float64(left)/(1<<30), float64(all)/(1<<30))
	if left < littleMemory {
		return []Finding{{"memory", FindingBad, detail, "give the machine more memory, or stop other programs: programs that read documents may be killed"}}
	}
	return []Finding{{"memory", FindingOK, detail, ""}}
}
