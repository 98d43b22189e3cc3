"""The words of `dealtable watch`, in English and in Chinese."""

from collections.abc import Mapping
from typing import Final

from controller.client.monitored import TableConnectionState
from controller.messages import AttemptOutcome
from controller.words import Words

LINE_TEXTS: Final[Mapping[str, Words]] = {
    "alert": Words(
        "{name} ({code}): {cause}. Next: {action}", "{name} ({code})：{cause}。处理：{action}"
    ),
    "over": Words("{name} is over", "{name} 已解除"),
    "call": Words("REFEREE  {who}{words}", "裁判  {who}{words}"),
    "caller": Words("{seat}: ", "{seat}："),
    "hold": Words("STOPPED by {by} ({role}){why}", "暂停  {by}（{role}）{why}"),
    "why": Words(": {why}", "：{why}"),
    "hold_over": Words("the stop by {by} ({role}) is over", "{by}（{role}）的暂停已解除"),
    "table": Words("table {table_no}", "台号{table_no}"),
    "deal": Words("deal {deal}", "第{deal}副"),
    "level": Words(" level {level}", " 打{level}"),
    "attempt": Words("deal {deal} attempt {attempt}", "第{deal}副 本台第{attempt}次发牌"),
    "fed": Words("fed {fed}", "已送{fed}张"),
    "again": Words("again {refed}", "复送{refed}张"),
    "simulated": Words("(simulated)", "（模拟）"),
    "outcome": Words("{attempt}: {outcome}{why}", "{attempt}：{outcome}{why}"),
    "reasons": Words(" ({why})", "（{why}）"),
    "since": Words("silent since {time}", "{time}以后无消息"),
    "unheard": Words("nothing heard for {after_s:g} s", "{after_s:g}秒内无消息"),
    "silence": Words(
        "{since}: is its computer on, its gateway running, its machine alive?",
        "{since}：电脑是否开机？网关、机器程序是否运行？",
    ),
    "comma": Words(", ", "，"),
    "version": Words(
        "a state of another version, or none: {why}", "状态的版本不同，或不是状态：{why}"
    ),
    "stranger": Words("not a table's message: {why}", "不是牌桌的消息：{why}"),
}
"""Lines and their parts."""

OUTCOMES_ZH: Final[Mapping[AttemptOutcome, str]] = {
    AttemptOutcome.OK: "发牌成功",
    AttemptOutcome.MISDEAL: "重新发牌",
    AttemptOutcome.VOID: "作废",
}
"""How an attempt ended, in Chinese."""

LINE_STATES_ZH: Final[Mapping[TableConnectionState, str]] = {
    TableConnectionState.CONNECTING: "正在连接",
    TableConnectionState.OPEN: "已连接",
    TableConnectionState.DOWN: "该地址无应答",
    TableConnectionState.KEY_REFUSED: "密钥被拒：未获准、已吊销或已过期",
    TableConnectionState.OTHER_KEY: "密钥不符：该地址不是本台，不向它发送任何内容",
}
"""How the way to a table stands, in Chinese."""
