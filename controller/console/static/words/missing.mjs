// Words of the page for an address at which there is nothing: [Chinese, English].

export default {
  "missing.page": ["没有此页面", "There is no such page"],
  "missing.table": ["没有{table}这张台", "There is no table {table} here"],
  "missing.why": ["地址有误，或该台已从控制台移除。", "The address is wrong, or the table was removed from the console."],
  "missing.home": ["回到首页", "To the start page"],
};
