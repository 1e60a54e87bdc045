package server

// upParts are the parts of cairn up: every role in one process. The Temporal server is
// in the process too, unless the configuration names another.
func (p *platform) upParts() []part {
	temporal, repair := p.startTemporal, p.repair
	if !p.cfg.Temporal.Embedded() {
		temporal, repair = p.registerCluster, nothing // its schedules repair
	}
	return []part{
		p.listen, p.hostFolder, p.emptyTemporary,
		p.createSecretKey, p.startSecrets, p.openStores, p.startKeys, p.prepareInstance, p.startAudit,
		p.startModels, p.compareEmbeddings, temporal, p.startDialer,
		p.confine, p.startParsers, p.startBrowser, p.startQueues(nil), p.wakeWebhooks, p.releaseHeld, repair,
		p.startDrawers, p.recordAudit, p.startAPI, p.resealLeft, p.writeEndpoints,
	}
}

// besideParts are the parts of a worker beside cairn up, whose stores and offline model
// it uses.
func (p *platform) besideParts(queues []string) []part {
	return []part{
		p.joinTemporal, p.joinFolder,
		p.startSecrets, p.joinStores, p.startKeys,
		p.joinModels, p.compareEmbeddings, p.startDialer,
		p.confine, p.startParsers, p.startQueues(queues), p.wakeWebhooks, p.releaseHeld,
	}
}

// migrateParts are the parts of cairn migrate, the only role of a cluster that changes
// the schema of the database, the namespace and the keys of the instance.
func (p *platform) migrateParts() []part {
	return []part{
		p.joinFolder, p.createSecretKey, p.startSecrets,
		p.openStores, p.startKeys, p.keepSecretKey, p.prepareInstance,
		p.registerCluster,
	}
}

// apiParts are the parts of cairn api. It runs no workflow and no activity.
func (p *platform) apiParts() []part {
	return []part{
		p.listen, p.joinFolder, p.startSecrets,
		p.awaitStores, p.startKeys, p.keepSecretKey, p.startAudit, p.awaitBlobs, p.awaitNamespace("cairn-api"),
		p.startModels, p.compareEmbeddings, p.startDialer, p.wakeWebhooks, p.releaseHeld,
		p.confine, p.startDrawers, p.recordAudit, p.startAPI, p.resealLeft,
	}
}

// workerParts are the parts of cairn worker in a cluster.
func (p *platform) workerParts(queues []string) []part {
	return []part{
		p.listenHealth, p.joinFolder, p.startSecrets,
		p.awaitStores, p.startKeys, p.keepSecretKey, p.startAudit, p.awaitBlobs, p.awaitNamespace("cairn-worker"),
		p.startModels, p.compareEmbeddings, p.startDialer,
		p.confine, p.startParsers, p.startBrowser, p.startQueues(queues), p.wakeWebhooks, p.releaseHeld, p.serveHealth,
	}
}
