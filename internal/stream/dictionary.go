package stream

// dictionary holds what logs repeat, the most frequent last: most logs are too short to
// repeat it themselves. Stored logs can be read only with these bytes, so they never
// change.
const dictionary = `"error":{"code":"provider_failed","message":"the "retryable":true,"retryAt":"20"stage":"status":"failed"status":"canceled"
modelFailed {"turn":1,"ref":"default/runs/
webhookCall {"ref":"default/runs/
importUpdate {"data":{"
researchUpdate {"turn":1,"ref":"/research-","data":{"phase":"section","status":"started","round":1,"question":1,"found":,"documents":,"notes":
attachmentUpdate {"data":{"
search {"ref":"/search-0.json"}
toolUpdate {"data":{"phase":"RETRIEVAL","status":"completed","RERANKING","COMPILING_RESULTS","SEARCH_PREPARATION","initial_count":0,"reranked_count":0,"kept_count":0
toolEvent {"turn":1,"ref":"/tool-1-0-event-1.json","data":{"call":"toolCallId":"event":"
toolCall {"turn":1,"data":{"id":"call_","name":"rag_search","status":"completed","seconds":0.
messageReset {"turn":1,"attempt":2,"data":{"reason":"retry"reason":"tool_calls"}}
toolEnd {"ref":"/answer.json"}
0
documentUpdate {"data":{"version":1,"stage":"queued","progress":0
documentUpdate {"data":{"version":1,"stage":"fetch","progress":0.05}}
documentUpdate {"data":{"version":1,"stage":"remove","progress":0
documentUpdate {"data":{"version":1,"stage":"check","progress":0.05}}
documentUpdate {"data":{"version":1,"stage":"extract","progress":0.1}}
documentUpdate {"data":{"version":1,"stage":"enrich","progress":0.3}}
documentUpdate {"data":{"version":1,"stage":"chunk","progress":0.35}}
documentUpdate {"data":{"version":1,"stage":"embed","progress":0.4,"chunkCount":5}}
documentUpdate {"data":{"version":1,"stage":"publish","progress":0.9,"chunkCount":5}}
runEnded {"data":{"published":true,"status":"completed"}}
0
runEnded {"data":{"status":"completed"}}
0
runStarted {"data":{"messageId":"","conversationId":""}}
delta {"turn":1,"attempt":1,"text":" "}
delta {"turn":1,"attempt":1,"text":"
sources {"ref":"default/runs/
completed {"ref":"/answer.json"}
`
