package embedded

import (
	"net"
	"net/netip"
	"strconv"
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
)

// clusterName is the name of the server in its database.
const clusterName = "active"

// acknowledged is how often the queues of the history service forget the tasks that are done.
const acknowledged = 3 * time.Second

// tuning returns the settings that differ from the server's defaults, which suit
// many hosts and a shared database and not one process with its own file.
func tuning() dynamicconfig.StaticClient {
	values := map[string]any{
		// The default of twenty polls a second delays each step of a workflow by 50 ms.
		"history.transferProcessorMaxPollRPS": 2000,
		"history.timerProcessorMaxPollRPS":    2000,
		"history.outboundProcessorMaxPollRPS": 2000,
		// The lists are written once a second while workflows start and end all the time. A
		// workflow that has ended by then is written to them once and not twice, and its first
		// write does not delay a reader's first word.
		"history.visibilityProcessorMaxPollRPS": 1,
		"history.visibilityTaskBatchSize":       500,
		// A queue goes through all tasks since its last acknowledgement whenever a task is
		// added. The default is 30 s.
		"history.transferProcessorUpdateAckInterval":   acknowledged,
		"history.timerProcessorUpdateAckInterval":      acknowledged,
		"history.visibilityProcessorUpdateAckInterval": acknowledged,
		// Several readers of a run's events may query it at the same time.
		"history.MaxBufferedQueryCount": 100,
		// A tenant's import must not starve another tenant's question.
		"matching.enableFairness": true,
		// These limits protect a shared server, and this one is not shared.
		"frontend.rps":                     20_000,
		"frontend.namespaceRPS":            20_000,
		"frontend.namespaceCount":          20_000,
		"frontend.namespaceRPS.visibility": 200,
		"frontend.persistenceMaxQPS":       50_000,
		"history.rps":                      50_000,
		"history.persistenceMaxQPS":        50_000,
		"matching.rps":                     50_000,
		"matching.persistenceMaxQPS":       50_000,
		// Transitions of workflows share the commits of the file (group.go).
		"history.shardIOConcurrency": historyConnections / 2,
		// One host needs one partition, and no forwarding between them.
		"matching.numTaskqueueReadPartitions":  1,
		"matching.numTaskqueueWritePartitions": 1,
		// A worker learns of a cancel at once, not with its next heartbeat.
		"frontend.WorkerCommandsEnabled":           true,
		"system.enableCancelActivityWorkerCommand": true,
		// No payload is kept outside of the histories. The server would walk through
		// every event to count such payloads.
		"history.externalPayloadsEnabled": false,
		// The default of 128,000 would keep each workflow of the last hour in memory.
		"history.hostLevelCacheMaxSize": 512,
		// These tasks meet at one connection to one file. By default 2,240 goroutines
		// wait for them, and the stack of each has grown to a statement's depth.
		"history.transferProcessorSchedulerWorkerCount":               128,
		"history.timerProcessorSchedulerWorkerCount":                  32,
		"history.memoryTimerProcessorSchedulerWorkerCount":            32,
		"history.visibilityProcessorSchedulerWorkerCount":             8,
		"history.ReplicationProcessorSchedulerWorkerCount":            1,
		"history.ReplicationLowPriorityProcessorSchedulerWorkerCount": 1,
		// A worker that stops receives no more tasks; they would wait for a time-out.
		"frontend.enableCancelWorkerPollsOnShutdown": true,
	}
	client := dynamicconfig.StaticClient{}
	for name, value := range values {
		client[dynamicconfig.MakeKey(name)] = value
	}
	return client
}

// serviceNames are the parts of the server that talk to each other by gRPC.
func serviceNames() []primitives.ServiceName {
	return []primitives.ServiceName{
		primitives.FrontendService, primitives.HistoryService,
		primitives.MatchingService, primitives.WorkerService,
	}
}

// serverConfig describes a server of one shard whose parts listen on the given
// ports of one loopback address.
func serverConfig(c Config, host netip.Addr, ports map[primitives.ServiceName]int) *config.Config {
	services := map[string]config.Service{}
	for name, port := range ports {
		services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: host.String()}}
	}
	frontend := net.JoinHostPort(host.String(), strconv.Itoa(ports[primitives.FrontendService]))
	return &config.Config{
		Global: config.Global{Membership: config.Membership{
			MaxJoinDuration: 30 * time.Second, BroadcastAddress: host.String(),
		}},
		Persistence: config.Persistence{
			DefaultStore:     "history",
			VisibilityStore:  "visibility",
			NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{
				"history":    {SQL: historyDatabase(c)},
				"visibility": {SQL: visibilityDatabase(c)},
			},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: frontend},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            services,
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		PublicClient: config.PublicClient{HostPort: frontend},
	}
}

// staticHosts returns the address of each part of the server, which replaces the
// discovery of hosts by gossip.
func staticHosts(host netip.Addr, ports map[primitives.ServiceName]int) map[primitives.ServiceName]static.Hosts {
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, port := range ports {
		hosts[name] = static.SingleLocalHost(net.JoinHostPort(host.String(), strconv.Itoa(port)))
	}
	return hosts
}
